"""``skyhouse-export.json``: the rows and options of an export, by which a stopped export is continued."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from clickhouse_schema.hats.hats_properties import COLLECTION_FILE
from loaders.export.export_request import ExportRequest
from loaders.export.export_target import ExportTarget
from loaders.load_error import LoadError
from tap_service.constants import VERSION
from tap_service.hats.writing.catalogue_files import is_catalogue_file
from tap_service.hats.writing.index_files import is_index_file

STATE_FILE = "skyhouse-export.json"


class ExportState(BaseModel):
    """The state of an export.

    Attributes
    ----------
    stamp
        ``ExportSource.stamp``; '' for rows that may differ each time, whose files are never kept.
    folders
        The folders of the collection, which the other attributes determine and, for a query, the name of the target.
    skyhouse
        The version of Skyhouse: another version may write other files.
    is_complete
        Whether all files are written and verified.
    """

    model_config = ConfigDict(frozen=True)

    source: str
    stamp: str
    max_rows: int
    margin: float
    columns: tuple[str, ...]
    has_index: bool
    folders: tuple[str, ...] = ()
    skyhouse: str = VERSION
    is_complete: bool = False

    @classmethod
    def begin(cls, request: ExportRequest, stamp: str) -> ExportState:
        return cls(
            source=request.source,
            stamp=stamp,
            max_rows=request.max_rows,
            margin=request.margin,
            columns=request.columns,
            has_index=request.has_index,
        )

    def continues(self, earlier: ExportState) -> bool:
        """Whether the files of an ``earlier`` export can be kept."""
        begun = earlier.model_copy(update={"is_complete": False} | ({} if self.folders else {"folders": ()}))
        return bool(self.stamp) and begun == self

    def is_own(self, name: str) -> bool:
        """Whether the export writes this file."""
        folder, _, path = name.partition("/")
        return name in (COLLECTION_FILE, STATE_FILE) or (
            folder in self.folders and (is_catalogue_file(path) or is_index_file(path))
        )


def read_state(target: ExportTarget, names: dict[str, int]) -> ExportState | None:
    """Return the state of the export whose files have these ``names``; None in an empty target.

    Raises
    ------
    LoadError
        The target has other files.
    """
    if STATE_FILE in names:
        try:
            return ExportState.model_validate_json(target.read_file(STATE_FILE))
        except ValidationError as error:
            raise LoadError(f"{target.address}/{STATE_FILE} is damaged: name an empty target") from error
    if names:
        raise LoadError(
            f"{target.address} has files that were not exported by Skyhouse, such as {min(names)}: name an empty target"
        )
    return None


def write_state(target: ExportTarget, state: ExportState) -> None:
    target.write_file(STATE_FILE, state.model_dump_json(indent=1).encode())
