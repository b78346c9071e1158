"""Opens the inputs that a command names: local table files, or local or remote HATS catalogues."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clickhouse_schema.hats.hats_error import HatsError
from loaders.progress_reporter import Reporter
from tap_service.hats.reading.catalogue_check import check_catalogue
from tap_service.hats.reading.catalogue_columns import describe_columns
from tap_service.hats.reading.catalogue_folder import is_folder_address, open_folder
from tap_service.hats.reading.hats_catalogue import open_catalogue
from tap_service.hats.reading.partition_file import PartitionFile
from tap_service.hats.reading.partition_source import PartitionSource
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.cds_reader import CdsSource
from tap_service.readers.file_formats import describe_form, open_source
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import Source, TableHeader


@dataclass(frozen=True, slots=True)
class NamedInput:
    """A file or a catalogue.

    Attributes
    ----------
    name
        The name that is recorded.
    digest
        Hash of the file's bytes; for a catalogue, hash of the versions of its files.
    sources
        The file, or the partitions, which all have the same columns; at least one.
    form
        Describes how a file is read, for messages; '' for a catalogue.
    """

    name: str
    digest: str
    sources: tuple[Source, ...]
    form: str = ""

    @property
    def header(self) -> Source:
        """The source whose columns and notes stand for all sources."""
        return self.sources[0]


def open_inputs(
    files: Iterable[Path | str], reporter: Reporter, options: ReadOptions = AS_DETECTED
) -> list[NamedInput]:
    """Open all files and catalogues.

    NULL tokens that are recognised in a file also apply to the files after it.

    Parameters
    ----------
    files : iterable of Path or str
        Table files, and folders or URLs of HATS catalogues.
    reporter : Reporter
        Receives messages; may stop the command.
    options : ReadOptions, optional
        How to read table files.

    Returns
    -------
    list of NamedInput
        One input for each of ``files``, in their order.

    Raises
    ------
    ReadError
        A file or a catalogue cannot be read or is inconsistent.
    LoadCancelled
        The user has stopped the command.
    """
    inputs: list[NamedInput] = []
    recognised: tuple[str, ...] = ()
    for file in files:
        inputs.append(open_input(file, reporter, options, recognised))
        recognised = inputs[-1].sources[0].options.nulls
    return inputs


def open_input(
    file: Path | str, reporter: Reporter, options: ReadOptions = AS_DETECTED, recognised: tuple[str, ...] = ()
) -> NamedInput:
    """Open a file or a HATS catalogue. The footers of all partitions of a catalogue are checked.

    Parameters
    ----------
    file : Path or str
        A table file; or the folder or the URL of a catalogue.
    reporter : Reporter
        Receives a message about a catalogue; may stop the command.
    options : ReadOptions, optional
        How to read a table file; ignored for catalogues.
    recognised : tuple of str, optional
        Further NULL tokens.

    Returns
    -------
    NamedInput
        The input; partitions without rows are left out.

    Raises
    ------
    ReadError
        The file or the catalogue cannot be read or is inconsistent.
    LoadCancelled
        The user has stopped the command.
    """
    if not is_folder_address(str(file)):
        path = Path(file)
        # comes before hashing, because its errors say what is wrong with a file
        source = open_source(path, options.add_nulls(recognised))
        return NamedInput(str(path), _hash_choice(path, options, source), (source,), describe_form(path, source))

    def report(done: int, partitions: int) -> None:
        reporter.check()
        if done == partitions:
            reporter.message(f"{catalogue.address}: the footers of {partitions:,} partitions agree")

    try:
        catalogue = open_catalogue(open_folder(str(file)))
        columns = describe_columns(catalogue)
        files = check_catalogue(catalogue, report)
    except HatsError as error:
        raise ReadError(str(error)) from error
    sources = tuple(PartitionSource(found, columns) for found in files if found.rows)
    if not sources:
        raise ReadError(f"{catalogue.address} has no rows")
    return NamedInput(catalogue.address, _hash_versions(files), sources)


def describe_input(file: Path | str, options: ReadOptions = AS_DETECTED) -> TableHeader:
    """Return the columns of a file or a catalogue.

    Parameters
    ----------
    file : Path or str
        A table file; or the folder or the URL of a HATS catalogue.
    options : ReadOptions, optional
        How to read a table file; ignored for catalogues.

    Returns
    -------
    TableHeader
        The columns with their metadata. The partitions of a catalogue are not opened.

    Raises
    ------
    ReadError
        The file or the catalogue cannot be read.
    """
    if not is_folder_address(str(file)):
        return open_source(Path(file), options)
    try:
        return describe_columns(open_catalogue(open_folder(str(file))))
    except HatsError as error:
        raise ReadError(str(error)) from error


def list_forms(file: Path | str, header: TableHeader) -> list[str]:
    """Describe the form in which a file is read.

    Parameters
    ----------
    file : Path or str
        A table file; or the folder or the URL of a HATS catalogue.
    header : TableHeader
        Its columns, from ``describe_input``.

    Returns
    -------
    list of str
        One description for messages; [] for a catalogue.
    """
    return [] if is_folder_address(str(file)) else [describe_form(Path(file), header)]


def _hash_choice(path: Path, options: ReadOptions, source: Source) -> str:
    """Return a hash of the file, of the choice of a table in it, and of the ReadMe next to it."""
    digest = hash_file(path)
    if isinstance(source, CdsSource) and source.readme:
        return hashlib.sha256(f"{digest}\n{hash_file(source.readme)}".encode()).hexdigest()
    if not (options.hdu or options.table):
        return digest
    return hashlib.sha256(f"{digest}\n{options.hdu}\n{options.table}".encode()).hexdigest()


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hash_versions(files: Iterable[PartitionFile]) -> str:
    lines = (f"{file.name}\t{file.version.size}\t{file.version.tag}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
