"""Finds objects by name in the tables that declare names, and with Sesame if the operator permits it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from adql import NameLookupError, PositionLookup, make_printable
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.object_names import (
    first_name_sql,
    matching_name_sql,
    names_index,
    names_sql,
    normalise_name,
    proper_name_sql,
)
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.shard_map import Sharding
from tap_service.services.queries.sesame_resolver import Position, SesameResolver
from tap_service.storage.engine.engine import Engine, EngineError

_log = logging.getLogger("skyhouse")

#: The maximum number of rows of one name, and of names of one completion, that are read from a table.
_MAX_ROWS = 20
_MAX_COMPLETIONS = 10

#: The maximum number of objects of a region, and of rows of the tables that are searched for them.
_MAX_LISTED = 50
MAX_LISTED_ROWS = 1_000_000

#: The maximum number of candidates and suggestions in a message.
_MAX_TOLD = 4

#: Catalogues' positions of one object differ by up to this separation, in degrees.
SAME_POSITION = 60 / 3600

_SETTINGS: dict[str, str | int] = {"max_execution_time": 2, "max_threads": 1}


@dataclass(frozen=True, slots=True)
class NamedObject:
    """An object with a name.

    Attributes
    ----------
    name, main_name
        The name that was looked for, and the object's first name.
    table
        The qualified name of the table; '' if Sesame found the object.
    ra, dec
        The ICRS position in degrees.
    magnitude
        The first magnitude of the table; None if it has none.
    """

    name: str
    main_name: str
    table: str
    ra: float
    dec: float
    magnitude: float | None


class NameResolver:
    """Finds objects by name. Thread-safe; calls block.

    Parameters
    ----------
    engine
        Reads the tables, at most two seconds per statement.
    sesame
        Finds names that no table has; None to ask no other host.
    """

    def __init__(self, engine: Engine, sesame: SesameResolver | None) -> None:
        self._engine = engine
        self._sesame = sesame

    def find_objects(self, catalogue: Catalogue, name: str) -> list[NamedObject]:
        """Find the objects with a name in the tables of a catalogue.

        Parameters
        ----------
        catalogue
            The tables that the client may read; tables without declared names are not searched.
        name
            The name; case and spaces do not matter (``object_names.normalise_name``).

        Returns
        -------
        list of NamedObject
            At most 20 objects of each table, the brightest first; objects without a magnitude come last.

        Raises
        ------
        EngineError
            A table cannot be read.
        """
        key = normalise_name(name)
        found = (
            [each for entry in _list_named_tables(catalogue) for each in self._read_rows(entry, [key])] if key else []
        )
        return sorted(found, key=_order_by_brightness)

    def find_everywhere(self, catalogue: Catalogue, name: str) -> list[NamedObject]:
        """Find the objects with a name as ``find_objects`` does; if there is none, ask Sesame.

        Parameters
        ----------
        catalogue, name
            As for ``find_objects``.

        Returns
        -------
        list of NamedObject
            The objects of the tables, or the only object of Sesame, which has no magnitude; empty without Sesame.

        Raises
        ------
        EngineError
            A table cannot be read.
        NameLookupError
            Sesame does not know the name, or does not answer.
        """
        found = self.find_objects(catalogue, name)
        if found or self._sesame is None:
            return found
        ra, dec = self._sesame(name)
        return [NamedObject(name, name, "", ra, dec, None)]

    def complete_name(self, catalogue: Catalogue, start: str) -> list[NamedObject]:
        """Find objects whose names start with a text.

        Parameters
        ----------
        catalogue
            The tables that the client may read.
        start
            The start of a name; '' finds nothing.

        Returns
        -------
        list of NamedObject
            At most 10 objects, the brightest first, found by the shortest names. Tables that fail or take long are
            skipped.
        """
        key = normalise_name(start)
        found: list[NamedObject] = []
        for entry in _list_named_tables(catalogue) if key else ():
            try:
                keys = self._read_keys(entry, key, catalogue.sharding)
                found += self._read_rows(entry, keys) if keys else []
            except EngineError as error:
                _log.warning("names of %s cannot be completed now: %s", entry.qualified_name, error.detail)
        return sorted(found, key=_order_by_brightness)[:_MAX_COMPLETIONS]

    def list_bright(self, catalogue: Catalogue, position: Position, radius: float) -> list[NamedObject]:
        """List the brightest objects with a proper name within a circle.

        Tables of more than ``MAX_LISTED_ROWS`` rows are left out: all of their rows would have to be read.

        Parameters
        ----------
        catalogue
            The tables that the client may read.
        position
            The centre: right ascension and declination in degrees, ICRS.
        radius
            The radius in degrees.

        Returns
        -------
        list of NamedObject
            At most 50 objects, the brightest first.

        Raises
        ------
        EngineError
            A table cannot be read.
        """
        found: list[NamedObject] = []
        for entry in _list_named_tables(catalogue):
            if (entry.rows or 0) <= MAX_LISTED_ROWS:
                found += self._read_bright(entry, position, radius)
        return sorted(found, key=_order_by_brightness)[:_MAX_LISTED]

    def _read_bright(self, entry: TableEntry, position: Position, radius: float) -> Iterator[NamedObject]:
        ra, dec = (f"toFloat64({quote_identifier(column)})" for column in entry.table.layout.position or ())
        name = proper_name_sql(entry.table)
        columns = {
            "name": name,
            "main_name": first_name_sql(entry.table),
            **{"ra": ra, "dec": dec, "magnitude": _find_magnitude(entry)},
        }
        lon, lat = (float(degrees) for degrees in position)
        rows = self._engine.fetch_table(
            f"SELECT {', '.join(f'{sql} AS __{column}' for column, sql in columns.items())} FROM {entry.storage_sql} "
            f"WHERE __name != '' AND isFinite({ra}) AND isFinite({dec}) AND isFinite(__magnitude) "
            f"AND greatCircleAngle({ra}, {dec}, {lon!r}, {lat!r}) <= {float(radius)!r} "
            f"ORDER BY __magnitude, __name LIMIT {_MAX_LISTED}",
            _SETTINGS,
        ).rename_columns([*columns])
        for row in rows.to_pylist():
            yield NamedObject(table=entry.qualified_name, **row)

    def make_lookup(self, catalogue: Catalogue) -> PositionLookup | None:
        """Return a function that looks up positions of names, for the translator.

        Parameters
        ----------
        catalogue
            The tables that the client may read.

        Returns
        -------
        PositionLookup or None
            Returns right ascension and declination in degrees, ICRS. It raises NameLookupError if a name has no
            position, has several more than ``SAME_POSITION`` apart, or cannot be looked up. None if nothing knows
            names.
        """
        return partial(self._find_position, catalogue) if has_names(catalogue) or self._sesame else None

    def _find_position(self, catalogue: Catalogue, name: str) -> Position:
        """Return the position of a name. Raises NameLookupError if it has none, or several."""
        try:
            if found := self.find_everywhere(catalogue, name):
                return _agree_on_position(name, found)
            raise NameLookupError(self._describe_absence(catalogue, name))
        except EngineError as error:
            _log.warning("a name cannot be looked up now: %s", error.detail)
            raise NameLookupError(
                f"the position of '{make_printable(name)}' cannot be looked up now; write it as POINT(ra, dec)"
            ) from error

    def _describe_absence(self, catalogue: Catalogue, name: str) -> str:
        tables = [entry.qualified_name for entry in _list_named_tables(catalogue)]
        near = self.suggest_names(catalogue, name)
        hint = f"did you mean {' or '.join(near)}?" if near else "write its position itself, POINT(ra, dec)"
        return f"no object called '{make_printable(name)}' is in {', '.join(tables[:_MAX_TOLD])}: {hint}"

    def suggest_names(self, catalogue: Catalogue, name: str) -> list[str]:
        """Suggest names that start like an unknown name.

        Parameters
        ----------
        catalogue
            The tables that the client may read.
        name
            The unknown name.

        Returns
        -------
        list of str
            At most four names that share all but the last character, else two thirds, else half of the name.
        """
        key = normalise_name(name)
        for length in (len(key) - 1, len(key) * 2 // 3, len(key) // 2):
            if length >= 2 and (found := self.complete_name(catalogue, key[:length])):
                return [*dict.fromkeys(each.name for each in found)][:_MAX_TOLD]
        return []

    def _read_rows(self, entry: TableEntry, keys: Sequence[str]) -> Iterator[NamedObject]:
        table = entry.table
        ra, dec = (f"toFloat64({quote_identifier(column)})" for column in table.layout.position or ())
        keys_sql = f"[{', '.join(quote_string(key) for key in keys)}]"
        columns = {
            "name": matching_name_sql(table, keys_sql),
            "main_name": first_name_sql(table),
            **{"ra": ra, "dec": dec, "magnitude": _find_magnitude(entry)},
        }
        rows = self._engine.fetch_table(
            f"SELECT {', '.join(f'{sql} AS __{column}' for column, sql in columns.items())} FROM {entry.storage_sql} "
            f"WHERE hasAny({names_sql(table)}, {keys_sql}) AND isFinite({ra}) AND isFinite({dec}) "
            f"ORDER BY __magnitude IS NULL, __magnitude, __name LIMIT {_MAX_ROWS}",
            _SETTINGS,
        ).rename_columns([*columns])
        for row in rows.to_pylist():
            yield NamedObject(table=entry.qualified_name, **row)

    def _read_keys(self, entry: TableEntry, start: str, sharding: Sharding | None) -> list[str]:
        """Return some names of the index's dictionary that start with ``key``, the shortest first."""
        [index] = names_index(entry.table)
        database, [table] = entry.part_tables
        source = f"mergeTreeTextIndex({quote_string(database)}, {quote_string(table)}, {quote_string(index)})"
        if sharding is not None and entry.is_sharded:
            source = f"cluster({quote_string(sharding.cluster)}, {source})"
        found = self._engine.fetch_table(
            f"SELECT DISTINCT token FROM {source} WHERE startsWith(token, {quote_string(start)}) "
            f"ORDER BY length(token), token LIMIT {_MAX_COMPLETIONS}",
            _SETTINGS,
        )
        return [str(token) for token in found.column(0).to_pylist()]


def has_names(catalogue: Catalogue) -> bool:
    """Whether a table of the catalogue declares names."""
    return any(True for _ in _list_named_tables(catalogue))


def _list_named_tables(catalogue: Catalogue) -> Iterator[TableEntry]:
    return (entry for entry in catalogue.entries if entry.table.names)


def _find_magnitude(entry: TableEntry) -> str:
    """Return the expression of the first magnitude that UCDs name, in the visible if there is one; NULL without one."""
    magnitudes = [column for column in entry.table.columns if column.ucd.lower().split(";")[0] == "phot.mag"]
    visible = [column for column in magnitudes if "em.opt.v" in column.ucd.lower().split(";")]
    columns = [f"toFloat64({quote_identifier(column.name)})" for column in (*visible, *magnitudes)]
    return f"coalesce({', '.join(columns)})" if columns else "CAST(NULL AS Nullable(Float64))"


def _order_by_brightness(found: NamedObject) -> tuple[bool, float, str]:
    return found.magnitude is None, found.magnitude or 0.0, found.name


def _agree_on_position(name: str, found: Sequence[NamedObject]) -> Position:
    """Return the position of the first. Raise NameLookupError if others of the same name are elsewhere."""
    first, *others = found
    apart = [other for other in others if _find_separation(first, other) > SAME_POSITION]
    if apart:
        descriptions = (
            f"{each.main_name} in {each.table} at POINT({each.ra:.5f}, {each.dec:.5f})"
            for each in (first, *apart[:_MAX_TOLD])
        )
        raise NameLookupError(
            f"'{make_printable(name)}' is the name of several objects: {'; '.join(descriptions)}. Write one of them"
        )
    return first.ra, first.dec


def _find_separation(one: NamedObject, other: NamedObject) -> float:
    """Return the angle between two objects, in degrees (haversine)."""
    (a, b), (c, d) = np.radians([one.ra, one.dec]), np.radians([other.ra, other.dec])
    half = np.sin((d - b) / 2) ** 2 + np.cos(b) * np.cos(d) * np.sin((c - a) / 2) ** 2
    return float(np.degrees(2 * np.arcsin(min(1.0, np.sqrt(half)))))
