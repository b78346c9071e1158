"""Any text gives rows, or an error that tells its author the cause, but never an internal error.

``make fuzz`` tries many more texts than ``make test``, and other texts each time. ``FUZZ_EXAMPLES`` is their number;
``FUZZ_SEED`` repeats a run.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator

import pytest

from adql import divide_query
from adql.errors import AdqlError, AdqlErrors
from adql.translation import Translation, emit_statement, translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.scratch_files import Budget, ScratchSpace
from tap_service.serializers import OK, ResultInfo
from tap_service.serializers.output_formats import FORMATS
from tap_service.service_errors import QueryTooHeavy, ServiceError, UserError
from tap_service.services.queries.run_errors import translate_errors
from tap_service.services.queries.value_errors import explain_value_error
from tap_service.storage.engine.engine import Engine, EngineError, EngineValueError
from tests.adql.fuzz_queries import Fuzzer
from tests.adql.fuzz_tables import fuzz_catalogues
from tests.support.adql_rows import Rows, query_rows

_EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
_SEED = int(os.environ.get("FUZZ_SEED", time.time_ns() if _EXAMPLES else "0"))

#: Numbers in one run of the tests: texts that are only translated, queries that run, conditions
_TEXTS, _QUERIES, _CONDITIONS = 400, 80, 30

#: ClickHouse's FUNCTION_THROW_IF_VALUE_IS_NON_ZERO
_THROW_IF_CODE = 395

#: Row limit of results
_LIMIT = 50


def _seed_dice(count: int) -> Iterator[tuple[int, random.Random]]:
    """Yield random states with their numbers; the number as seed repeats the query."""
    for number in range(_SEED, _SEED + (_EXAMPLES or count)):
        yield number, random.Random(number)


@pytest.fixture(scope="module")
def catalogues(engine: Engine) -> tuple[Catalogue, Catalogue]:
    return fuzz_catalogues(engine)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> ScratchSpace:
    return ScratchSpace(tmp_path_factory.mktemp("scratch"), Budget(1 << 30))


def _translate(text: str, catalogue: Catalogue) -> Translation | None:
    """Translate and divide a text as the service does; return None for an error, whose position must be in the text."""
    try:
        translation = translate(text, catalogue, limit=_LIMIT)
    except AdqlError as error:
        _check_error(error, text)
        return None
    resolved = translation.bound
    assert resolved is not None
    assert emit_statement(resolved).sql == translation.sql
    divide_query(resolved)
    _ = translation.links, translation.cells
    return translation


def _check_error(error: AdqlError, text: str) -> None:
    for part in error.errors if isinstance(error, AdqlErrors) else (error,):
        spans = [part.span, *(fix.span for fix in part.fixes)]
        assert all(0 <= span.start <= span.end <= len(text) for span in spans), part.message
        assert part.message
    assert error.describe(text)


def _run(translation: Translation, number: int, engine: Engine, scratch: ScratchSpace) -> None:
    """Write the result in one of the formats; errors are translated as the service does."""
    with translate_errors(f"fuzz {number}"):
        kind = FORMATS[number % len(FORMATS)]
        serializer = kind.serializer(translation.fields, ResultInfo(links=translation.links), scratch)
        serializer.write_header()
        with engine.stream_batches(translation.sql, settings=translation.settings) as batches:
            for batch in batches:
                assert batch.num_columns == len(translation.fields)
                for column, field in zip(batch.columns, translation.fields, strict=True):
                    column.cast(field.type.arrow)
                serializer.write_rows(batch)
        for _ in serializer.write_footer(OK):
            pass


def _is_explained(cause: BaseException | None) -> bool:
    """Whether a user gets a message of the service, not of the engine; messages of throwIf are the service's."""
    return (
        not isinstance(cause, EngineValueError)
        or cause.code == _THROW_IF_CODE
        or explain_value_error(cause) != str(cause)
    )


def _collect_failures(texts: Iterator[tuple[int, str]], judge: Callable[[int, str], None]) -> list[str]:
    found = []
    for number, text in texts:
        try:
            judge(number, text)
        except UserError as error:
            if isinstance(error, QueryTooHeavy) or not _is_explained(error.__cause__):
                found.append(f"{number}: {error}\n{text}")
        except Exception as error:  # of any kind: the report must have the text that causes it
            cause = error.__cause__ if isinstance(error, ServiceError) and error.__cause__ else error
            detail = cause.detail if isinstance(cause, EngineError) else repr(cause)
            found.append(f"{number}: {detail}\n{text}")
    return found


def test_texts_are_translated_or_refused(catalogues: tuple[Catalogue, Catalogue]) -> None:
    texts = ((number, Fuzzer(dice).make_text()) for number, dice in _seed_dice(_TEXTS))

    def judge(number: int, text: str) -> None:
        _translate(text, catalogues[number % 2])

    assert _collect_failures(texts, judge) == []


def test_results_have_the_declared_types(
    engine: Engine, catalogues: tuple[Catalogue, Catalogue], scratch: ScratchSpace
) -> None:
    answered = 0

    def judge(number: int, text: str) -> None:
        nonlocal answered
        if (translation := _translate(text, catalogues[number % 2])) is not None:
            _run(translation, number, engine, scratch)
            answered += 1

    assert (
        _collect_failures(((number, Fuzzer(dice).make_query()) for number, dice in _seed_dice(_QUERIES)), judge) == []
    )
    assert answered > (_EXAMPLES or _QUERIES) / 5


def test_conditions_select_the_same_rows_as_values(engine: Engine, catalogues: tuple[Catalogue, Catalogue]) -> None:
    """Conditions in WHERE and ON, which are planned, select the same rows as conditions in values, which are not."""
    plain, sized = catalogues

    def count(values: str, from_: str, catalogue: Catalogue) -> Rows:
        query = f"SELECT {values} FROM {from_}"
        translate(query, catalogue)
        with translate_errors("fuzz"):
            return query_rows(engine, catalogue, query)

    def judge(_: int, text: str) -> None:
        tables, condition = text.split("\n")
        ways = (condition, f"NOT ({condition})")
        sums = ", ".join(f"COALESCE(SUM(CASE WHEN {way} THEN 1 ELSE 0 END), 0)" for way in ways)
        try:
            wanted = count(sums, tables, plain)[0]
            found = [count("COUNT(*)", f"{tables} WHERE {way}", sized)[0][0] for way in ways]
            if (joined := tables.replace(", ", " JOIN ")) != tables:
                found[0:0] = count("COUNT(*)", f"{joined} ON {condition}", sized)[0]
                wanted = (wanted[0], *wanted)
        except (AdqlError, UserError):
            return
        assert tuple(found) == wanted

    texts = (
        (number, "\n".join(Fuzzer(dice, steady=True).make_partition())) for number, dice in _seed_dice(_CONDITIONS)
    )
    assert _collect_failures(texts, judge) == []
