"""Sharing of user tables: owners let other users and groups read their tables."""

from __future__ import annotations

from clickhouse_schema.engine_tables.user_table_record import Reader, UserTable
from clickhouse_schema.visible_tables import EVERYBODY
from tap_service.service_errors import Forbidden, NotFound, ParameterError
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.user_tables.user_table_service import UserTableService, translate_table_errors

_MAX_READERS = 100
#: maximum length of an issuer's name, a colon, and the name of its user or group
_MAX_NAME = 320


class UserTableSharing:
    """Adds and removes readers of user tables. Thread-safe.

    Methods raise NotFound, Forbidden, ParameterError and ServiceUnavailable. Their parameter ``owner`` is the name of
    the user, ``name`` is ``mydb.table``. A reader need not exist, so that answers do not reveal users and groups.
    """

    def __init__(self, tables: UserTableService, catalogue_cache: CatalogueCache) -> None:
        self._tables = tables
        self._catalogue_cache = catalogue_cache

    def get_table(self, owner: str, name: str) -> UserTable:
        """Return a table of the user, with its readers."""
        with translate_table_errors(owner):
            return self._tables.storage.get_table(owner, self._tables.parse_table_name(name))

    def list_shared_tables(self, user: str) -> tuple[UserTable, ...]:
        """Return the tables of other users that the user may read, by owner and name."""
        return self._catalogue_cache.visible_tables(user).shared

    def list_groups(self, user: str) -> list[str]:
        """Return the groups of the user, sorted."""
        return sorted(self._catalogue_cache.find_groups(user))

    def add_reader(self, owner: str, name: str, reader: Reader) -> UserTable:
        """Let a user or a group read a table; nothing changes if they already may read it.

        Parameters
        ----------
        owner, name : str
            The owner and the table.
        reader : Reader
            A user or a group.

        Returns
        -------
        UserTable
            The table with its readers.

        Raises
        ------
        Forbidden
            The table has the maximum number of readers, 100.
        """
        _check_reader(owner, reader)

        def add(readers: set[Reader]) -> None:
            readers.add(reader)
            if len(readers) > _MAX_READERS:
                raise Forbidden(
                    f"a table can be shared with at most {_MAX_READERS} users and groups: ask the operator for a group"
                )

        with translate_table_errors(owner):
            return self._tables.storage.change_readers(owner, self._tables.parse_table_name(name), add)

    def remove_reader(self, owner: str, name: str, reader: Reader) -> UserTable:
        """Revoke the right of a reader, for queries and jobs that start from now on.

        Parameters
        ----------
        owner, name : str
            The owner and the table.
        reader : Reader
            A user or a group.

        Returns
        -------
        UserTable
            The table with its readers.

        Raises
        ------
        NotFound
            The table is not shared with this reader.
        """

        def remove(readers: set[Reader]) -> None:
            if reader not in readers:
                raise NotFound(f"{name[:80]} is not shared with the {reader.kind} {reader.name[:80]!r}")
            readers.remove(reader)

        with translate_table_errors(owner):
            return self._tables.storage.change_readers(owner, self._tables.parse_table_name(name), remove)


def _check_reader(owner: str, reader: Reader) -> None:
    if not 0 < len(reader.name) <= _MAX_NAME or not reader.name.isprintable():
        raise ParameterError(f"the name of a {reader.kind} must have 1 to {_MAX_NAME} printable characters")
    if reader == Reader(kind="user", name=owner):
        raise ParameterError("the table is yours: name another user")
    if reader == Reader(kind="group", name=EVERYBODY):
        raise ParameterError(
            f"a table cannot be shared with {EVERYBODY}: name users or groups, or ask the operator to publish it"
        )
