"""FITS 4.0: a binary table after a VOTable that describes its columns, as in TOPCAT's "fits-plus".

The header contains the number of rows and the widths of text columns, so rows are spooled until the last one arrives.
They are then read twice: for the table, and for the heap, which holds cells of variable length (section 7.3.5).

FITS text is ASCII: other characters become '?', line ends and tabs a space. A NULL float becomes NaN, and NULL text
blanks. A NULL integer becomes TNULL, a number that no row has; if none is left, the column gets a wider type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.arrow_serializer import rename_duplicate_fields
from tap_service.serializers.field_arrays import conform_batch
from tap_service.serializers.fits_column_writer import new_fits_column, to_ascii
from tap_service.serializers.fits_header import BLOCK_SIZE, Card, write_fits_header
from tap_service.serializers.serializer import ResultInfo, Serializer, Status, distinct_names
from tap_service.serializers.spooled_rows import SpooledRows
from tap_service.serializers.votable_serializer import metadata_document

#: the limit of the standard (section 7.3.1): the number of a column has three digits
MAX_FITS_COLUMNS = 999

#: the largest heap position that a P descriptor (32 bits) can hold
_MAX_P_DESCRIPTOR = 2**31 - 1

#: leaves space in the card for the suffix of a duplicate name
_MAX_LABEL_LENGTH = 60


class Fits(Serializer):
    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        super().__init__(rename_duplicate_fields(fields), info, scratch)
        names = distinct_names([_shorten_label(field.name) for field in self.fields], fold=str.lower)
        self._columns = [new_fits_column(field, name) for field, name in zip(self.fields, names, strict=True)]
        self._spooled = SpooledRows(scratch)

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        if not batch.num_rows:
            return b""
        pairs = zip(self._columns, conform_batch(batch, self.fields), strict=True)
        arrays = [column.observe_batch(array) for column, array in pairs]
        self._spooled.add_batch(pa.record_batch(arrays, names=[str(number) for number in range(len(arrays))]))
        return b""

    def write_footer(self, status: Status) -> Iterable[bytes]:
        if status.value == "ERROR":
            return
        rows = self._spooled.count
        heap = sum(column.choose_form(rows) for column in self._columns)
        descriptor = ">i8" if heap > _MAX_P_DESCRIPTOR else ">i4"
        members = [column.record_member(descriptor) for column in self._columns]
        record = np.dtype([(str(number), *member) for number, member in enumerate(members)])
        yield _write_primary_hdu(
            metadata_document([column.written_field for column in self._columns], self.info, status)
        )
        yield self._write_table_header(record.itemsize, heap, descriptor, status)
        yield from self._write_table(record)
        yield from self._write_heap()
        yield b"\0" * (-(rows * record.itemsize + heap) % BLOCK_SIZE)

    def _write_table(self, record: np.dtype) -> Iterator[bytes]:
        at = 0
        for batch in self._spooled:
            rows = np.zeros(batch.num_rows, record)
            for number, (column, array) in enumerate(zip(self._columns, batch.columns, strict=True)):
                at = column.fill_cells(rows[str(number)], array, at)
            yield rows.tobytes()

    def _write_heap(self) -> Iterator[bytes]:
        for batch in self._spooled:
            for column, array in zip(self._columns, batch.columns, strict=True):
                yield column.to_heap_bytes(array)

    def _write_table_header(self, width: int, heap: int, descriptor: str, status: Status) -> bytes:
        cards: dict[str, Card] = {"XTENSION": "BINTABLE", "BITPIX": 8, "NAXIS": 2}
        cards |= {"NAXIS1": width, "NAXIS2": self._spooled.count, "PCOUNT": heap, "GCOUNT": 1}
        cards |= {"TFIELDS": len(self._columns), "EXTNAME": "RESULT", "QSTATUS": status.value}
        if status.text:
            cards["QMESSAGE"] = to_ascii(status.text)
        if self.info.limit is not None:
            cards["MAXREC"] = self.info.limit
        for number, column in enumerate(self._columns, 1):
            cards |= {f"{key}{number}": card for key, card in column.header_cards(descriptor).items()}
        return write_fits_header(cards)


def _shorten_label(name: str) -> str:
    """Shorten a name to fit into one card; astropy cannot read longer ones."""
    label = to_ascii(name) or "column"
    while len(label) + label.count("'") > _MAX_LABEL_LENGTH:
        label = label[:-1]
    return label


def _write_primary_hdu(votable: bytes) -> bytes:
    """Write the primary HDU with the VOTable; TOPCAT recognizes it by the order of the keywords."""
    cards: dict[str, Card] = {"SIMPLE": True, "BITPIX": 8, "NAXIS": 1, "NAXIS1": len(votable), "VOTMETA": True}
    return write_fits_header(cards | {"EXTEND": True, "NTABLE": 1}) + votable + b"\0" * (-len(votable) % BLOCK_SIZE)
