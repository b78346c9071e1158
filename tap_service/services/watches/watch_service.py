"""Requests to /watches. Each method is one request, and checks the rights of the user."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from adql import Translation
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_tables.addition_record import mark_watched, read_last_number
from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME, SHARED_PREFIX
from clickhouse_schema.latest_versions import find_versioned_table
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME
from tap_service.config import Config
from tap_service.models.identity import Identity
from tap_service.models.timestamps import now
from tap_service.models.upload_parameter import is_fetchable
from tap_service.models.watch import (
    Delivery,
    DeliveryState,
    RunState,
    Watch,
    WatchRun,
    make_watch_id,
)
from tap_service.public_addresses import NotPublic, refuse_private_host
from tap_service.service_errors import (
    Conflict,
    Forbidden,
    NotFound,
    ParameterError,
    QuotaExceeded,
    ServiceError,
    ServiceUnavailable,
)
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.jobs.watch_jobs import result_table_fields
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.queries.tap_parameters import read_tap_parameters
from tap_service.services.user_tables.user_table_service import UserTableService
from tap_service.services.watches.addition_numbers import continue_numbers
from tap_service.services.watches.position_lists import build_list_query
from tap_service.services.watches.watch_messages import PRIVATE_HOST_HINT
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.watch_store import (
    NameTaken,
    NoSuchWatch,
    TooManyWatches,
    WatchStore,
    WatchStoreUnavailable,
)

_MAX_WEBHOOK = 2000


@dataclass(frozen=True, slots=True)
class NewWatch:
    """A request to create a watch.

    Attributes
    ----------
    name : str
        The name of the watch, and of the table of its results.
    query : str
        The query in ADQL, '' for a list of positions.
    table : str
        The watched table; required for a list, and for a query that reads several tables.
    list_name : str
        A table of the user with positions, '' for a query.
    radius : float
        The maximum separation from a position of the list, in arcseconds.
    webhook : str
        The URL to which messages are posted, '' for none.
    has_mail : bool
        Whether messages are mailed.
    """

    name: str
    query: str = ""
    table: str = ""
    list_name: str = ""
    radius: float = 0.0
    webhook: str = ""
    has_mail: bool = False


class WatchService:
    """Creates, changes and deletes watches. Methods raise NotFound, Forbidden and ServiceUnavailable.

    Parameters
    ----------
    config : Config
        The settings.
    engine : Engine
        The engine with the record of additions.
    watches : WatchStore
        The store.
    preparation : QueryPreparation
        Translates queries.
    catalogues : CatalogueCache
        The tables that users see.
    tables : UserTableService
        Creates the tables of results.
    accounts : Accounts or None
        The users, if there are any.
    """

    def __init__(
        self,
        config: Config,
        engine: Engine,
        watches: WatchStore,
        preparation: QueryPreparation,
        catalogues: CatalogueCache,
        tables: UserTableService,
        accounts: Accounts | None,
    ) -> None:
        self._config = config
        self._engine = engine
        self._watches = watches
        self._preparation = preparation
        self._catalogues = catalogues
        self._tables = tables
        self._accounts = accounts

    def add_watch(self, owner: str, request: NewWatch) -> Watch:
        """Create a watch, and the empty table of its results.

        Parameters
        ----------
        owner : str
            The user, with whose rights the watch runs.
        request : NewWatch
            The request.

        Raises
        ------
        ParameterError, InvalidQueryError
            The request is invalid.
        Conflict
            The user has a watch or a table with this name.
        QuotaExceeded
            The user has too many watches.
        """
        if self._accounts is not None and not self._accounts.is_known(owner):
            raise ParameterError(f"there is no user {owner[:100]!r}; skyhouse user list lists them")
        self._check_quota(owner, request)
        name = self._tables.parse_table_name(f"{SCHEMA_NAME}.{request.name}")
        self._check_targets(owner, request)
        query = request.query.strip() or self._build_list_query(owner, request)
        translation = self._translate(query, owner)
        watched = self._choose_table(owner, translation, request.table)
        with _translate_errors(name):
            continue_numbers(self._engine, self._watches.list_watches())
            # first, so that no addition is missed; the sweep unmarks the table if no watch is stored
            mark_watched(self._engine, watched.schema.name, watched.table.name, is_watched=True)
        with self._result_table(owner, name, translation), _translate_errors(name):
            watch = Watch(
                watch_id=make_watch_id(),
                owner=owner,
                name=name,
                created=now(),
                query=query,
                table=watched.qualified_name,
                result_table=name,
                since=read_last_number(self._engine, watched.schema.name, watched.table.name),
                webhook=request.webhook,
                secret=secrets.token_urlsafe(32) if request.webhook else "",
                has_mail=request.has_mail,
            )
            self._watches.add_watch(watch, self._config.user_watches)
        return watch

    def list_watches(self, owner: str | None) -> list[Watch]:
        """Return the watches of a user; None for the watches of all users."""
        with _translate_errors(""):
            return self._watches.list_watches(owner)

    def get_watch(self, watch_id: str, user: Identity) -> Watch:
        """Return a watch of the user, or for administrators any watch.

        Parameters
        ----------
        watch_id : str
            The id of the watch.
        user : Identity
            The user.

        Raises
        ------
        NotFound
            There is no such watch, or it belongs to another user, which the answer does not reveal.
        """
        with _translate_errors(watch_id):
            watch = self._watches.get_watch(watch_id)
        if not (user.admin or watch.owner == user.name):
            raise _not_found(watch_id)
        return watch

    def find_watch(self, name: str, owner: str = "") -> Watch:
        """Return a watch for the operator.

        Parameters
        ----------
        name : str
            The id of the watch, or its name if that is unique.
        owner : str
            The owner; '' for any owner.

        Raises
        ------
        ParameterError
            Several watches have this name.
        """
        found = [watch for watch in self.list_watches(owner or None) if name in (watch.watch_id, watch.name)]
        if len(found) > 1:
            owners = ", ".join(watch.owner for watch in found)
            raise ParameterError(f"{owners} have watches with the name {name}: give the id, or --user")
        if not found:
            raise _not_found(name)
        return found[0]

    def remove_watch(self, watch: Watch) -> None:
        """Delete a watch. The table of its results stays, and a job that runs for it continues."""
        with _translate_errors(watch.watch_id):
            self._watches.delete_watch(watch.watch_id)

    def pause_watch(self, watch: Watch, *, is_paused: bool) -> Watch:
        """Pause or resume a watch.

        Parameters
        ----------
        watch : Watch
            The watch.
        is_paused : bool
            Whether no new runs start. Additions in the meantime are queued, and run later.

        Returns
        -------
        Watch
            The changed watch.
        """
        with _translate_errors(watch.watch_id):
            return self._watches.change_watch(watch.watch_id, lambda each: replace(each, is_paused=is_paused))

    def run_again(self, watch: Watch) -> Watch:
        """Repeat failed runs, and messages that were given up, with all their attempts.

        Parameters
        ----------
        watch : Watch
            The watch.

        Returns
        -------
        Watch
            The changed watch.
        """
        with _translate_errors(watch.watch_id):
            return self._watches.change_watch(watch.watch_id, _retry_all)

    def find_mail(self, owner: str) -> str:
        """Return the mail address of a user; '' if there is none, or the service sends no mail."""
        if not self._config.smtp_host or self._accounts is None:
            return ""
        return self._accounts.find_mail(owner)

    # --- the checks of a new watch

    def _check_quota(self, owner: str, request: NewWatch) -> None:
        limit = self._config.user_watches
        if not limit:
            raise Forbidden("this service has no watches: its operator has set SKYHOUSE_USER_WATCHES=0")
        with _translate_errors(request.name):
            present = self._watches.list_watches(owner)
            if len(present) >= limit:
                raise TooManyWatches(len(present))
            if any(watch.name.lower() == request.name.lower() for watch in present):
                raise NameTaken(request.name)

    def _check_targets(self, owner: str, request: NewWatch) -> None:
        if request.webhook:
            if not self._config.webhooks:
                raise Forbidden("this service posts no messages: its operator has set SKYHOUSE_WEBHOOKS=false")
            if not is_fetchable(request.webhook) or len(request.webhook) > _MAX_WEBHOOK:
                raise ParameterError("webhook is an http or https address without a user name, up to 2000 characters")
            try:
                refuse_private_host(urlsplit(request.webhook), self._config.webhook_hosts)
            except NotPublic as error:
                raise ParameterError(f"webhook: {error}; {PRIVATE_HOST_HINT}") from error
        if request.has_mail and not self.find_mail(owner):
            raise Forbidden(
                "this service cannot send you mail: its operator must set a mail server, and your mail address with "
                "skyhouse user mail"
            )

    def _build_list_query(self, owner: str, request: NewWatch) -> str:
        if not request.list_name:
            raise ParameterError("give query, or list with table and radius")
        if not request.table:
            raise ParameterError("give table: the table whose new rows are matched with the list")
        return build_list_query(self._catalogues.catalogue_for(owner), request.list_name, request.table, request.radius)

    @contextmanager
    def _result_table(self, owner: str, name: str, translation: Translation) -> Iterator[None]:
        """Create the table of results; drop it if the watch cannot be stored."""
        self._tables.create_empty_table(owner, name, result_table_fields(translation.fields))
        try:
            yield
        except BaseException:
            with suppress(ServiceError):
                self._tables.remove_table(owner, f"{SCHEMA_NAME}.{name}")
            raise

    def _translate(self, query: str, owner: str) -> Translation:
        parameters = read_tap_parameters([("LANG", "ADQL"), ("QUERY", query)], self._config.max_query_length)
        return self._preparation.translate_for(parameters, owner)

    def _choose_table(self, owner: str, translation: Translation, wanted: str) -> TableEntry:
        """Return the watched table among the tables of a query. Raises ParameterError."""
        found = {entry.qualified_name: entry for entry in translation.tables if _can_grow(entry)}
        if wanted:
            chosen = [entry for name, entry in found.items() if name.lower() == wanted.lower()]
        else:
            chosen = list(found.values())
        if len(chosen) > 1:
            raise ParameterError(f"the query reads {', '.join(found)}: give table, the name of the table to watch")
        if not chosen:
            read = ", ".join(found) or "no published table"
            raise ParameterError(f"the query reads {read}: table must be a published table that the query reads")
        entry = chosen[0]
        schemas = self._catalogues.snapshot.catalogue.schemas
        versioned = find_versioned_table(schemas, entry.schema.name, entry.table.name)
        if versioned is not None:
            is_visible = self._catalogues.catalogue_for(owner).find_entry(entry.schema.name, versioned.name) is not None
            source = f"{entry.schema.name}.{versioned.name}" if is_visible else "a table that you do not see"
            raise ParameterError(
                f"{entry.qualified_name} contains the latest versions of {source}, to which rows are added: "
                + ("watch that table" if is_visible else "it cannot be watched itself")
            )
        return entry


def _can_grow(entry: TableEntry) -> bool:
    """Return whether a table is published, so that operators may add rows to it."""
    schema = entry.schema.name
    is_own = schema == SCHEMA_NAME or schema.startswith(SHARED_PREFIX)
    return not (is_own or schema == TAP_SCHEMA_NAME or entry.is_computed)


def _retry_all(watch: Watch) -> Watch:
    at = now()

    def retry_run(run: WatchRun) -> WatchRun:
        if run.state is RunState.FAILED:
            return replace(run, state=RunState.WAITING, since=at, due=at, attempts=0)
        return replace(run, deliveries=tuple(map(retry_delivery, run.deliveries)))

    def retry_delivery(delivery: Delivery) -> Delivery:
        if delivery.state is not DeliveryState.GIVEN_UP:
            return delivery
        return replace(delivery, state=DeliveryState.PENDING, attempts=0, due=at)

    return replace(watch, runs=tuple(map(retry_run, watch.runs)))


def _not_found(watch_id: str) -> NotFound:
    return NotFound(f"there is no watch {watch_id[:60]!r}: it never existed, or was removed")


@contextmanager
def _translate_errors(watch_id: str) -> Iterator[None]:
    try:
        yield
    except NoSuchWatch as error:
        raise _not_found(watch_id) from error
    except NameTaken as error:
        raise Conflict(f"you already have a watch {watch_id}: remove it first, or choose another name") from error
    except TooManyWatches as error:
        raise QuotaExceeded(f"you have {error} watches, the maximum: remove one that you do not need") from error
    except WatchStoreUnavailable as error:
        raise ServiceUnavailable(f"{error}. Try again later") from error
    except EngineError as error:
        raise ServiceUnavailable("the watched table cannot be marked now. Try again later") from error
