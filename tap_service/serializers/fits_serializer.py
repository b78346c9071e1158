"""FITS 4.0: a binary table, and before it the columns' description as a VOTable, as TOPCAT's "fits-plus".

The header tells how many rows there are, and how wide the texts are, so the rows wait until the last is known. Then
they are read twice: for the table, and for the heap, which holds the cells of variable length (section 7.3.5).

FITS text is ASCII: other characters become '?', line ends and tabs a space. A NULL float is NaN, a NULL text is blank;
a NULL integer is a value of TNULL that no row has, if need be in a wider type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.arrow_serializer import named_apart
from tap_service.serializers.csv_serializer import distinct_names
from tap_service.serializers.field_arrays import conform_batch
from tap_service.serializers.fits_column_writer import column_for, in_ascii
from tap_service.serializers.fits_header import BLOCK, Card, write_fits_header
from tap_service.serializers.serializer import ResultInfo, Serializer, Status
from tap_service.serializers.spooled_rows import SpooledRows
from tap_service.serializers.votable_serializer import metadata_document

#: what the 32 bits of a P descriptor count
_MOST_IN_P = 2**31 - 1

#: with room for what tells it from another of the same name
_LONGEST_LABEL = 60


class Fits(Serializer):
    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        super().__init__(named_apart(fields), info, scratch)
        names = distinct_names([_shorten_label(field.name) for field in self.fields], fold=str.lower)
        self._columns = [column_for(field, name) for field, name in zip(self.fields, names, strict=True)]
        self._waiting = SpooledRows(scratch)

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        if not batch.num_rows:
            return b""
        pairs = zip(self._columns, conform_batch(batch, self.fields), strict=True)
        arrays = [column.observe_batch(array) for column, array in pairs]
        self._waiting.add_batch(pa.record_batch(arrays, names=[str(number) for number in range(len(arrays))]))
        return b""

    def write_footer(self, status: Status) -> Iterable[bytes]:
        if status.value == "ERROR":
            return
        rows = self._waiting.count
        heap = sum(column.choose_form(rows) for column in self._columns)
        descriptor = ">i8" if heap > _MOST_IN_P else ">i4"
        record = np.dtype([(str(n), *column.record_member(descriptor)) for n, column in enumerate(self._columns)])
        yield _write_primary_hdu(metadata_document([column.as_written for column in self._columns], self.info, status))
        yield self._write_table_header(record.itemsize, heap, descriptor, status)
        yield from self._write_table(record)
        yield from self._write_heap()
        yield b"\0" * (-(rows * record.itemsize + heap) % BLOCK)

    def _write_table(self, record: np.dtype) -> Iterator[bytes]:
        at = 0
        for batch in self._waiting:
            rows = np.zeros(batch.num_rows, record)
            for number, (column, array) in enumerate(zip(self._columns, batch.columns, strict=True)):
                at = column.fill_cells(rows[str(number)], array, at)
            yield rows.tobytes()

    def _write_heap(self) -> Iterator[bytes]:
        for batch in self._waiting:
            for column, array in zip(self._columns, batch.columns, strict=True):
                yield column.in_heap(array)

    def _write_table_header(self, width: int, heap: int, descriptor: str, status: Status) -> bytes:
        cards: dict[str, Card] = {"XTENSION": "BINTABLE", "BITPIX": 8, "NAXIS": 2}
        cards |= {"NAXIS1": width, "NAXIS2": self._waiting.count, "PCOUNT": heap, "GCOUNT": 1}
        cards |= {"TFIELDS": len(self._columns), "EXTNAME": "RESULT", "QSTATUS": status.value}
        if status.text:
            cards["QMESSAGE"] = in_ascii(status.text)
        if self.info.limit is not None:
            cards["MAXREC"] = self.info.limit
        for number, column in enumerate(self._columns, 1):
            cards |= {f"{key}{number}": card for key, card in column.header_cards(descriptor).items()}
        return write_fits_header(cards)


def _shorten_label(name: str) -> str:
    """A name for the header, short enough for one card: astropy reads no longer ones."""
    label = in_ascii(name) or "column"
    while len(label) + label.count("'") > _LONGEST_LABEL:
        label = label[:-1]
    return label


def _write_primary_hdu(votable: bytes) -> bytes:
    """The bytes of the VOTable, and how many tables it describes. TOPCAT knows it by the order of the keywords."""
    cards: dict[str, Card] = {"SIMPLE": True, "BITPIX": 8, "NAXIS": 1, "NAXIS1": len(votable), "VOTMETA": True}
    return write_fits_header(cards | {"EXTEND": True, "NTABLE": 1}) + votable + b"\0" * (-len(votable) % BLOCK)
