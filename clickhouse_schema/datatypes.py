"""The table of types: VOTable, Felis, ClickHouse, Arrow, numpy, ADQL, FITS, Parquet and ECSV, one line per type.

A column's type is a ``ColumnType``: a VOTable datatype, its arraysize and its xtype. All other types follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Scalar:
    """One scalar type. ``numpy`` is the big-endian dtype of VOTable BINARY and FITS; '' if the width varies.

    ``parquet`` is the physical type, followed by the logical one where needed.
    """

    votable: str
    clickhouse: str
    arrow: pa.DataType
    numpy: str
    adql: str
    fits: str
    parquet: str
    ecsv: str


#                  ClickHouse  Arrow         numpy  ADQL    FITS  Parquet         ECSV
_ROWS = {
    "boolean":     ("Bool",    pa.bool_(),   "S1",  "BOOLEAN",  "L", "BOOLEAN",      "bool"),
    "unsignedByte": ("UInt8",  pa.uint8(),   "u1",  "SMALLINT", "B", "INT32 UINT_8", "uint8"),
    "short":       ("Int16",   pa.int16(),   ">i2", "SMALLINT", "I", "INT32 INT_16", "int16"),
    "int":         ("Int32",   pa.int32(),   ">i4", "INTEGER",  "J", "INT32",        "int32"),
    "long":        ("Int64",   pa.int64(),   ">i8", "BIGINT",   "K", "INT64",        "int64"),
    "float":       ("Float32", pa.float32(), ">f4", "REAL",     "E", "FLOAT",        "float32"),
    "double":      ("Float64", pa.float64(), ">f8", "DOUBLE",   "D", "DOUBLE",       "float64"),
    "floatComplex": ("Float32", pa.float32(), ">f4", "COMPLEX", "C", "FLOAT",        "float32"),
    "doubleComplex": ("Float64", pa.float64(), ">f8", "COMPLEX", "M", "DOUBLE",      "float64"),
    "char":        ("String",  pa.string(),  "",    "CHAR",     "A", "BYTE_ARRAY STRING", "string"),
    "unicodeChar": ("String",  pa.string(),  "",    "CHAR",     "A", "BYTE_ARRAY STRING", "string"),
}  # fmt: skip
#: A complex number has the types of its real and imaginary parts.
SCALARS = {votable: Scalar(votable, *rest) for votable, rest in _ROWS.items()}

#: Felis datatype -> VOTable datatype.
FELIS = {
    "boolean": "boolean",
    "byte": "unsignedByte",
    "short": "short",
    "int": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "char": "char",
    "string": "char",
    "unicode": "unicodeChar",
    "text": "unicodeChar",
    "binary": "unsignedByte",
    "timestamp": "char",
}

TEXT = frozenset({"char", "unicodeChar"})
INTEGERS = ("unsignedByte", "short", "int", "long")
FLOATS = ("float", "double")
NUMBERS = (*INTEGERS, *FLOATS)

#: Datatype of complex numbers -> datatype of their two parts.
COMPLEX = {"floatComplex": "float", "doubleComplex": "double"}

#: Microseconds since 1970, UTC: can hold every DALI timestamp from 1900 to 2299
_TIMESTAMP_CLICKHOUSE = "DateTime64(6, 'UTC')"
_TIMESTAMP_ARROW = pa.timestamp("us", tz="UTC")

#: ADQL 2.0's xtype for columns of mixed shapes: texts in STC-S or DALI's form.
REGION_XTYPE = "adql:REGION"

#: The xtypes of texts that are regions, other than MOCs: two for shapes of DALI, and one for any region
REGION_TEXTS = ("shape", "multishape", REGION_XTYPE)

#: xtype -> datatypes and arraysize of its columns (DALI 1.2, section 3); texts may have a maximum length.
XTYPES: dict[str, tuple[Collection[str], str]] = {
    "interval": (NUMBERS, "2"),
    "multiinterval": (NUMBERS, "*"),
    "point": (FLOATS, "2"),
    "circle": (FLOATS, "3"),
    "range": (FLOATS, "4"),
    "polygon": (FLOATS, "*"),
    **dict.fromkeys((*REGION_TEXTS, "moc", "hms", "dms", "uri", "uuid", "json"), (TEXT, "*")),
}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """VOTable ``datatype``, ``arraysize`` ('' = scalar) and ``xtype`` ('' = none).

    Text always has ``arraysize`` '*' or a length. DALI's xtypes are 'timestamp' and the keys of ``XTYPES``. An array of
    strings, '5x3' or '5x*', is one text: each string padded with blanks to its length, as in VOTable. A complex number
    is an array of its real and imaginary parts. ``null``: the integer that stands for NULL within arrays in files; None
    for arrays without NULLs.
    """

    datatype: str
    arraysize: str = ""
    xtype: str = ""
    null: int | None = None

    @property
    def scalar(self) -> Scalar:
        return SCALARS[self.datatype]

    @property
    def is_text(self) -> bool:
        """Whether ADQL treats the value as a string (a timestamp is not one)."""
        return self.datatype in TEXT and self.xtype != "timestamp"

    @property
    def min_bytes(self) -> int:
        """Bytes of a value of fixed size, also of NULL; 0 if the size varies."""
        kind = self.stored_type
        if not kind.arraysize or "*" in kind.arraysize:
            return 0
        item = 1 if kind.datatype in TEXT else max(kind.scalar.arrow.bit_width // 8, 1)
        return item * math.prod(map(int, kind.arraysize.split("x")))

    @property
    def string_length(self) -> int:
        """Length of each string in an array of strings; 0 for other types."""
        first, *others = self.arraysize.split("x")
        return int(first) if others and self.datatype in TEXT else 0

    @property
    def is_timestamp(self) -> bool:
        return self.xtype == "timestamp"

    @property
    def is_array(self) -> bool:
        """Whether it is stored as an array of numbers or booleans (geometries and complex numbers included)."""
        return self.is_complex or (bool(self.arraysize) and self.datatype not in TEXT)

    @property
    def has_null_elements(self) -> bool:
        """Whether it is an array with elements that may be NULL: booleans always, integers if ``null`` is set."""
        return self.is_array and (self.datatype == "boolean" or self.null is not None)

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex number or an array of them."""
        return self.datatype in COMPLEX

    @property
    def stored_type(self) -> ColumnType:
        """The type with complex numbers as arrays of two numbers, which have the same bytes."""
        if not self.is_complex:
            return self
        return ColumnType(COMPLEX[self.datatype], f"2x{self.arraysize}" if self.arraysize else "2", self.xtype)

    @property
    def is_numeric(self) -> bool:
        return not self.arraysize and self.datatype in NUMBERS

    @property
    def is_integer(self) -> bool:
        return not self.arraysize and self.datatype in INTEGERS

    def is_mixed_with(self, other: ColumnType) -> bool:
        """Whether both are numbers, and exactly one is an integer type."""
        return self.is_numeric and other.is_numeric and self.is_integer != other.is_integer

    def is_coarser_than(self, other: ColumnType) -> bool:
        """Whether this type cannot represent all integers of ``other``."""
        return self.is_mixed_with(other) and other.datatype == "long"

    @property
    def is_boolean(self) -> bool:
        return not self.arraysize and self.datatype == "boolean"

    @property
    def is_geometry(self) -> bool:
        """Whether geometry functions accept the value; regions and MOCs are stored as texts."""
        return self.xtype in ("point", "circle", "range", "polygon", "moc", *REGION_TEXTS)

    @property
    def has_stored_shapes(self) -> bool:
        """Whether the loader parses the texts or ranges, and stores their shapes in a separate column."""
        return self.xtype == "range" or (self.is_text and self.xtype in (*REGION_TEXTS, "moc"))

    @property
    def has_fitting_xtype(self) -> bool:
        """Whether the xtype is for columns of this datatype and arraysize; xtypes outside DALI are for any."""
        datatypes, arraysize = XTYPES.get(self.xtype, ((self.datatype,), ""))
        if self.datatype in TEXT:
            return self.datatype in datatypes and not (arraysize and self.string_length)
        return self.datatype in datatypes and (not arraysize or self.arraysize == arraysize)

    @property
    def clickhouse(self) -> str:
        """ClickHouse type, without Nullable."""
        if self.is_timestamp:
            return _TIMESTAMP_CLICKHOUSE
        if self.is_array:
            item = self.scalar.clickhouse
            return f"Array(Nullable({item}))" if self.has_null_elements else f"Array({item})"
        return self.scalar.clickhouse

    @property
    def arrow(self) -> pa.DataType:
        if self.is_timestamp:
            return _TIMESTAMP_ARROW
        if self.is_array:
            return pa.list_(self.scalar.arrow)
        return self.scalar.arrow

    @property
    def adql(self) -> str:
        """Name for messages: 'BIGINT', 'DOUBLE[]', 'POINT', 'TIMESTAMP' ..."""
        if self.xtype in XTYPES or self.is_timestamp:
            return self.xtype.removeprefix("adql:").upper()
        return self.scalar.adql + ("[]" if self.arraysize and self.datatype not in TEXT else "")


def complete_arraysize(felis: str, datatype: str, arraysize: str, length: int | None = None) -> str:
    """Return the arraysize of a column of the Felis datatype ``felis`` and the VOTable datatype ``datatype``.

    Texts and binary values, which are arrays of bytes, vary up to their length.
    """
    if arraysize or (datatype not in TEXT and felis != "binary"):
        return arraysize
    return f"{length}*" if length else "*"


def count_characters(text: str, kind: ColumnType) -> int:
    """Return the length of a text as VOTable counts it.

    Parameters
    ----------
    text : str
        The text.
    kind : ColumnType
        A text type; only its datatype matters.

    Returns
    -------
    int
        Number of 16-bit units for ``unicodeChar``, in which characters above U+FFFF count twice; number of characters
        for ``char``.

    References
    ----------
    .. [1] VOTable 1.5, section 6: unicodeChar is UCS-2.
    """
    return len(text) + (sum(character > "\uffff" for character in text) if kind.datatype == "unicodeChar" else 0)


def is_integer_in_range(number: int, datatype: str) -> bool:
    """Whether a number is in the range of an integer type.

    Parameters
    ----------
    number : int
        Any integer.
    datatype : str
        VOTable datatype.

    Returns
    -------
    bool
        False for types that are not integers.
    """
    if datatype not in INTEGERS:
        return False
    bits: int = SCALARS[datatype].arrow.bit_width
    least = 0 if datatype == "unsignedByte" else -(1 << bits - 1)
    return least <= number < least + (1 << bits)


BOOLEAN = ColumnType("boolean")
SHORT = ColumnType("short")
INT = ColumnType("int")
LONG = ColumnType("long")
FLOAT = ColumnType("float")
DOUBLE = ColumnType("double")
CHAR = ColumnType("char", "*")
UNICODE = ColumnType("unicodeChar", "*")
TIMESTAMP = ColumnType("char", "*", "timestamp")
POINT = ColumnType("double", "2", "point")
CIRCLE = ColumnType("double", "3", "circle")
POLYGON = ColumnType("double", "*", "polygon")
REGION = ColumnType("char", "*", REGION_XTYPE)
MOC = ColumnType("char", "*", "moc")


@cache
def arrow_to_column_type(arrow: pa.DataType) -> ColumnType:
    """Return the column type of an Arrow type.

    Unsigned types widen to the next signed type; the loader rejects UInt64 values above 2^63-1. Dictionaries have the
    type of their values, and dates are timestamps.

    Parameters
    ----------
    arrow : pyarrow.DataType
        Type of a column; lists may have numbers or booleans as elements.

    Returns
    -------
    ColumnType
        The type, without xtype except for timestamps. Strings are ``unicodeChar``, because their characters are
        unknown.

    Raises
    ------
    KeyError
        VOTable cannot represent the type, such as a struct or a list of lists.
    """
    if pa.types.is_dictionary(arrow):
        return arrow_to_column_type(arrow.value_type)
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return ColumnType(_FROM_ARROW[arrow.value_type], "*")
    if pa.types.is_fixed_size_list(arrow):
        return ColumnType(_FROM_ARROW[arrow.value_type], str(arrow.list_size))
    if pa.types.is_timestamp(arrow) or pa.types.is_date(arrow):
        return TIMESTAMP
    if pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow):
        return UNICODE
    return ColumnType(_FROM_ARROW[arrow])


_FROM_ARROW = {
    pa.bool_(): "boolean",
    pa.uint8(): "unsignedByte",
    pa.int8(): "short",
    pa.int16(): "short",
    pa.uint16(): "int",
    pa.int32(): "int",
    pa.uint32(): "long",
    pa.int64(): "long",
    pa.uint64(): "long",
    pa.float16(): "float",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.null(): "char",
}


@dataclass(frozen=True, slots=True, order=True)
class CoordinateSystem:
    """VOTable's COOSYS, with terms of the IVOA vocabularies; '' = unknown.

    ``epoch`` of the positions and ``equinox`` of the frame are years with their calendar, such as J2016.0 or B1950.0.
    """

    system: str
    epoch: str = ""
    equinox: str = ""
    refposition: str = ""


ICRS = CoordinateSystem("ICRS")


@dataclass(frozen=True, slots=True, order=True)
class TimeSystem:
    """VOTable's TIMESYS, with terms of the IVOA vocabularies.

    ``timeorigin`` is '' for timestamps and years of a calendar.
    """

    timescale: str
    refposition: str
    timeorigin: str = ""


@dataclass(frozen=True, slots=True, order=True)
class PhotometricSystem:
    """How a magnitude or a flux is calibrated.

    ``filter``: its identifier in the SVO Filter Profile Service. ``zero_point``: the flux density of magnitude 0 in Jy,
    None if unknown.
    """

    filter: str
    system: str
    zero_point: float | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a result or a table as VOTable describes it. Units in VOUnit, '' = none.

    ``coordinate_system`` is for coordinates, ``time_system`` for times, ``photometry`` for magnitudes and fluxes; None
    for other columns, or if unknown.
    """

    name: str
    type: ColumnType
    unit: str = ""
    ucd: str = ""
    utype: str = ""
    description: str = ""
    nullable: bool = True
    coordinate_system: CoordinateSystem | None = field(default=None, compare=False)
    time_system: TimeSystem | None = field(default=None, compare=False)
    photometry: PhotometricSystem | None = field(default=None, compare=False)

    @property
    def frame(self) -> str:
        """Name of the coordinate system, '' if it has none."""
        return self.coordinate_system.system if self.coordinate_system else ""

    @property
    def epoch(self) -> str:
        """Epoch of the coordinates, '' if unknown."""
        return self.coordinate_system.epoch if self.coordinate_system else ""
