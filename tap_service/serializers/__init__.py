"""Serializers: they turn Arrow batches into the bytes of an output format. Each format has its own file.

``FORMATS`` lists the formats, and ``find_format`` looks one up.
"""

from tap_service.serializers.output_formats import FORMATS, Format, UnknownFormatError, find_format
from tap_service.serializers.serializer import OK, ResultInfo, SerializationError, Serializer, Status, overflow_status

__all__ = [
    "FORMATS",
    "OK",
    "Format",
    "ResultInfo",
    "SerializationError",
    "Serializer",
    "Status",
    "UnknownFormatError",
    "find_format",
    "overflow_status",
]
