"""Columns get unique names, and the sender learns of changes."""

from __future__ import annotations

from tap_service.readers.unique_names import name_columns


def test_unique_names_are_unchanged() -> None:
    assert name_columns(["id", "ra", "Dec"]) == (("id", "ra", "Dec"), ())


def test_equal_names_and_twins_by_case_get_numbers() -> None:
    names, notes = name_columns(["mag", "MAG", "mag", "mag_2"])
    assert names == ("mag", "MAG_3", "mag_4", "mag_2")
    assert notes == ("another column MAG is called MAG_3", "another column mag is called mag_4")


def test_a_column_without_a_name_is_named_by_its_position() -> None:
    assert name_columns(["", "ra", ""]) == (
        ("col1", "ra", "col3"),
        ("column 1, which has no name, is called col1", "column 3, which has no name, is called col3"),
    )


def test_a_name_for_a_position_is_not_taken_twice() -> None:
    assert name_columns(["col2", ""])[0] == ("col2", "col2_2")


def test_a_long_name_keeps_the_length_of_names() -> None:
    names, _ = name_columns(["x" * 64, "x" * 64])
    assert names == ("x" * 64, "x" * 62 + "_2")


def test_a_name_that_is_too_long_is_cut() -> None:
    names, notes = name_columns(["x" * 65, "x" * 70])
    assert names == ("x" * 64, "x" * 62 + "_2")
    assert notes[0] == f"column {'x' * 65} is called {'x' * 64}"


def test_blanks_around_a_name_and_control_characters_are_replaced() -> None:
    names, notes = name_columns([" ra ", "ra", "a\tb", " "], case_matters=True)
    assert names == ("ra", "ra_2", "a_b", "col4")
    assert notes == (
        "column ' ra ' is called ra",
        "another column ra is called ra_2",
        "column 'a\\tb' is called a_b",
        "column 4, which has no name, is called col4",
    )
