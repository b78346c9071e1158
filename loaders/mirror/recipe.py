"""The recipe of a mirror: the origin of a table's rows, their format, and the origin of the table's description."""

from __future__ import annotations

import difflib
import re
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from clickhouse_schema.file_form import FileForm
from clickhouse_schema.schema_files.yaml_document import Document, read_document
from clickhouse_schema.schema_model import MAX_COLUMNS, Layout
from clickhouse_schema.schema_problem import SchemaError, YamlPath
from clickhouse_schema.strict_model import Name, StrictModel, Text, check_datatype
from clickhouse_schema.system_keys import CoordinateKeys
from loaders.load_error import LoadError
from loaders.pipeline.table_name import split_name

_MAX_CHARACTERS = 1_000_000


def _wrap_text(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _name_types(value: Any) -> Any:
    """Return a list of names as a mapping to no datatypes."""
    if isinstance(value, tuple) and all(isinstance(name, str) for name in value):
        return dict.fromkeys(value, "")
    return value


def _check_type(value: str) -> str:
    return value and check_datatype(value)


Datatype = Annotated[str, AfterValidator(_check_type)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_wrap_text)]
#: An address that paths are appended to
BaseAddress = Annotated[Text, AfterValidator(lambda address: address.rstrip("/"))]


class RowOrigin(StrictModel):
    """The files of the origin, or its TAP service.

    Attributes
    ----------
    files
        Addresses, http or https; ``{000..185}`` and ``{a..z}`` stand for each number or letter of a range.
    checksums
        Address of a file of MD5 or SHA checksums. Without ``files`` it names the files, relative to itself.
    pages
        Addresses of pages with links to the files, with ranges as in ``files``.
    match
        Pattern of the names to use from ``checksums`` or ``pages``, such as ``GaiaSource_*.csv.gz``.
    form
        How the files are read, with the keys of ``skyhouse:files``.
    tap
        Address of a TAP service that has the rows, instead of files.
    table
        The name of the table of the service.
    by
        The column by whose ranges the service is queried; by default the position, else the id.
    """

    files: Texts = ()
    checksums: Text = ""
    pages: Texts = ()
    match: Text = ""
    form: FileForm = FileForm()
    tap: BaseAddress = ""
    table: Text = ""
    by: Text = ""

    @model_validator(mode="after")
    def _check_files(self) -> RowOrigin:
        has_files = bool(self.files or self.checksums or self.pages)
        if has_files == bool(self.tap):
            raise ValueError("origin needs either files, checksums or pages that name the files, or tap")
        if self.match and self.files:
            raise ValueError("match chooses among the names of checksums or pages: leave out files or match")
        if bool(self.tap) != bool(self.table) or (self.by and not self.tap):
            raise ValueError("tap needs table, the name of the service's table; table and by are only for tap")
        return self


class MetadataOrigin(StrictModel):
    """The origin of the description of the table; without any key, the first file.

    Attributes
    ----------
    tap
        Address of a TAP service that has the table.
    table
        The name of the table of the service, or in ``felis``.
    felis
        A schema file with Felis' keys: its address, or its path relative to the recipe.
    """

    tap: BaseAddress = ""
    table: Text = ""
    felis: Text = ""

    @model_validator(mode="after")
    def _check_origin(self) -> MetadataOrigin:
        if self.tap and self.felis:
            raise ValueError("metadata come from tap or felis, not from both")
        if self.tap and not self.table:
            raise ValueError("tap needs table, the name of the service's table")
        return self


class Crossmatch(StrictModel):
    """A table of neighbours that is made when the mirror is complete.

    Attributes
    ----------
    table
        The other table, ``schema.table``.
    radius
        In arcseconds.
    into
        The table of the pairs, ``schema.table``, with both ids and their separation.
    """

    table: Text
    radius: Annotated[float, Field(gt=0, le=3600)]
    into: Text


class Recipe(StrictModel):
    """A recipe.

    Attributes
    ----------
    name, title
        The name and title of the recipe, for messages and lists.
    status
        'draft' if the files are not known yet. Drafts are rejected.
    table
        The name of the mirrored table, ``schema.table``.
    columns
        The columns of files without a header, in their order: names, or names with datatypes as in schema files. A
        missing datatype is taken from the metadata.
    renamed
        Names in the metadata, each with the name that the files have instead.
    layout
        How the table is stored: the keys of ``skyhouse:layout``.
    coosys
        The coordinate system of the position with its epoch: the keys of ``skyhouse:coosys``.
    citation, licence
        Citation and licence of the data, for the schema.
    notes
        What the operator should know before the first file is fetched.
    """

    name: Name
    title: Text = ""
    status: Literal["", "draft"] = ""
    table: Text
    origin: RowOrigin
    metadata: MetadataOrigin = MetadataOrigin()
    columns: Annotated[dict[Name, Datatype], BeforeValidator(_name_types), Field(max_length=MAX_COLUMNS)] = {}  # noqa: RUF012  frozen
    renamed: dict[str, str] = {}  # noqa: RUF012  frozen
    layout: Layout = Layout()
    coosys: CoordinateKeys | None = None
    crossmatch: Crossmatch | None = None
    citation: Text = ""
    licence: Text = ""
    notes: Texts = ()

    @model_validator(mode="after")
    def _check_names(self) -> Recipe:
        for name in (self.table, *([self.crossmatch.table, self.crossmatch.into] if self.crossmatch else ())):
            try:
                split_name(name)
            except LoadError:
                raise ValueError(f"{name!r} is not schema.table") from None
        return self


def parse_recipe(text: str, source: str) -> Recipe:
    """Parse the text of a recipe. ``source``: names it in messages. Raises ``LoadError``."""
    if len(text) > _MAX_CHARACTERS:
        raise LoadError(f"{source}:1: more than {_MAX_CHARACTERS:,} characters: is this a recipe?")
    if not text.strip():
        raise LoadError(f"{source}:1: the file is empty: a recipe starts with 'name: ...'")
    try:
        document = read_document(text, source)
    except SchemaError as error:
        raise LoadError(str(error)) from error
    if not isinstance(document.data, dict):
        raise LoadError(f"{source}:1: a recipe starts with 'name: ...'")
    try:
        return Recipe.model_validate(_freeze(document.data), by_alias=True)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise LoadError("\n".join(dict.fromkeys(_describe_error(document, problem) for problem in problems))) from error


def _freeze(data: Any) -> Any:
    """Return the document with tuples for lists."""
    if isinstance(data, list):
        return tuple(map(_freeze, data))
    return {key: _freeze(value) for key, value in data.items()} if isinstance(data, dict) else data


def _describe_error(document: Document, problem: ErrorDetails) -> str:
    path: YamlPath = problem["loc"]
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    where = document.format_location(path)
    if problem["type"] == "extra_forbidden":
        known = _list_keys(path[:-1])
        similar = difflib.get_close_matches(key, known, n=1)
        hint = f": did you mean {similar[0]!r}?" if similar else f"; there are {', '.join(known)}"
        return f"{where}: unknown key {key!r}{hint}"
    if problem["type"] == "missing":
        return f"{where}: the key {key!r} is missing"
    if problem["type"] == "value_error":
        return f"{where}: {problem['ctx']['error']}"
    return f"{where}: {key} {re.sub('^Input should be', 'must be', problem['msg'])}"


def _list_keys(path: YamlPath) -> list[str]:
    """Return the keys of the model at ``path``."""
    model: type[BaseModel] = Recipe
    for part in path:
        field = model.model_fields.get(str(part)) or model.model_fields.get(f"{part}_")
        found = field and [kind for kind in (field.annotation, *get_args(field.annotation)) if _is_model(kind)]
        if found:
            model = found[0]
    return [field.validation_alias or name for name, field in model.model_fields.items()]  # type: ignore[misc]


def _is_model(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
