"""Arrow batches in, bytes out, a format in a file. ``FORMATS`` is the table of them, ``find_format`` the way in."""

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
