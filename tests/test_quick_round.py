"""``make quick`` chooses the tests nearest to what has changed."""

from __future__ import annotations

from tests.support.environment import ROOT
from tools.quick_round import choose_tests, list_commands


def test_tests_of_a_changed_module_come_first() -> None:
    chosen, others = choose_tests(["adql/syntax/lexer.py"])
    assert "tests/adql/test_lexer.py" in chosen[:3]
    assert set(chosen).isdisjoint(others)
    assert all((ROOT / name).is_file() for name in chosen + others)


def test_tests_below_a_conftest_depend_on_what_it_imports() -> None:
    chosen, others = choose_tests(["tests/adql/conftest.py"])
    assert {"tests/adql/test_windows.py", "tests/adql/regions/test_shapes.py"} <= {*chosen, *others}


def test_what_no_test_depends_on_runs_none() -> None:
    assert choose_tests(["README.md"]) == ([], [])


def test_checks_are_of_what_has_changed() -> None:
    assert list(list_commands(["README.md"], [])) == []
    assert [command[0].rpartition("/")[2] for _, command in list_commands(["docs/adql.md"], [])] == ["mkdocs"]
    python = [command[1:] for _, command in list_commands(["adql/errors.py", "Makefile"], [])]
    assert python == [["check", "adql/errors.py"], ["format", "--check", "adql/errors.py"], [], []]
    portal = list_commands(["web/src/App.svelte"], [])
    assert {folder for folder, _ in portal} == {"web"}
