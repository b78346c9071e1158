"""The uploads of a shared query: the tables that a job had, sent again and compared with what it had."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from tap_service.models.request_parameters import is_known
from tap_service.models.share import file_key
from tap_service.models.upload_parameter import Part, TextPart, read_uploads
from tap_service.models.uws_job import Job, JobFile
from tap_service.service_errors import ParameterFault

_PIECE = 1 << 20


def collect_uploads(share_id: str, job: Job, sent: Mapping[str, Part]) -> tuple[tuple[JobFile, Part], ...]:
    """Return the uploads of a job as files of the share, which have the names of their tables.

    ``sent``: the files of the request, by the names that their parts had with the job. Raise ParameterFault unless all
    are there and the same.
    """
    texts: dict[str, Part] = {name: TextPart(value) for name, value in job.parameters if not is_known(name)}
    parts = texts | {file.name: _check_part(file, sent.get(file.name)) for file in job.files}
    types = {id(parts[file.name]): file.content_type for file in job.files}
    values = [value for name, value in job.parameters if name.upper() == "UPLOAD"]
    found = []
    for number, upload in enumerate(read_uploads(values, parts)):
        if upload.part is None:
            raise ParameterFault(
                f"the table {upload.name} is uploaded from an address, whose content may change: run the query with "
                "the file itself, then share that"
            )
        kind = types.get(id(upload.part), upload.part.content_type)
        file = JobFile(upload.name, file_key(share_id, number), upload.part.size, kind, _hash_part(upload.part))
        found.append((file, upload.part))
    return tuple(found)


def _check_part(file: JobFile, part: Part | None) -> Part:
    if part is None:
        raise ParameterFault(
            f"the share keeps the uploaded files: send the file {file.name[:60]!r} again, as it was sent with the job"
        )
    if _hash_part(part) != file.digest:
        raise ParameterFault(f"the file {file.name[:60]!r} is not the one with which the job ran: send that one")
    return part


def _hash_part(part: Part) -> str:
    digest = hashlib.sha256()
    with part.open() as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
