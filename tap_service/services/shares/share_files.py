"""The uploads of a shared query: the tables of its job that it reads, sent again and compared with what the job had.

A table that the query does not read is neither asked for, nor stored, nor shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from adql import AdqlError, check_without_tables
from tap_service.models.request_parameters import is_known
from tap_service.models.share import Share, file_key
from tap_service.models.upload_parameter import UPLOAD_SCHEMA, Part, TextPart, read_uploads
from tap_service.models.uws_job import Job, JobFile
from tap_service.service_errors import ParameterError

_PIECE = 1 << 20


def add_uploads(
    share: Share, job: Job, sent: Mapping[str, Part], omitted: Collection[str] = ()
) -> tuple[Share, list[Part]]:
    """Return the share with the uploads that its query reads as files, and the parts with their bytes.

    Parameters
    ----------
    share, job
        A share without files, and the job with its result.
    sent
        The files of the request, by the names that their parts had with the job.
    omitted
        The names of tables that are not kept with the share.

    Raises
    ------
    ParameterError
        A file is missing, or not the one that the job had; a table came from an address; OMIT names no upload.
    """
    texts: dict[str, Part] = {name: TextPart(value) for name, value in job.parameters if not is_known(name)}
    stand_ins = {file.name: TextPart("") for file in job.files}
    job_files = {id(stand_ins[file.name]): file for file in job.files}
    values = [value for name, value in job.parameters if name.upper() == "UPLOAD"]
    uploads = read_uploads(values, {**texts, **stand_ins})
    names = {upload.name.lower(): upload.name for upload in uploads}
    if unknown := next((name for name in omitted if name.lower() not in names), ""):
        raise ParameterError(f"OMIT: the job has no uploaded table {unknown[:60]!r}")
    share = note_uploads(share, tuple(names.values()))
    wanted = set(share.provenance.uploads or ()) - {names[name.lower()] for name in omitted}
    files, parts = [], []
    for number, upload in enumerate(uploads):
        if upload.name not in wanted:
            continue
        if upload.part is None:
            raise ParameterError(
                f"the table {upload.name} is uploaded from an address, whose content may change: run the query with "
                "the file itself, then share that"
            )
        part, kind = upload.part, upload.part.content_type
        if (job_file := job_files.get(id(part))) is not None:
            part, kind = _check_part(job_file, sent.get(job_file.name)), job_file.content_type
        files.append(JobFile(upload.name, file_key(share.share_id, number), part.size, kind, _hash_part(part)))
        parts.append(part)
    return replace(share, files=tuple(files)), parts


def note_uploads(share: Share, names: Sequence[str]) -> Share:
    """Return the share with a note of the uploads that its query reads, of these ``names``.

    Jobs of earlier versions have no such note, nor have their shares: their query tells.
    """
    if share.provenance.uploads is not None:
        return share
    try:
        read = {tuple(part.lower() for part in name) for name in check_without_tables(share.query)} if names else set()
        uploads = tuple(name for name in names if {(name.lower(),), (UPLOAD_SCHEMA.lower(), name.lower())} & read)
    except AdqlError:  # no version has refused it
        uploads = tuple(names)
    return replace(share, provenance=replace(share.provenance, uploads=uploads))


def drop_unread_files(share: Share) -> Share:
    """Return a share of an earlier version without the files that its query does not read."""
    share = note_uploads(share, [file.name for file in share.files])
    return replace(share, files=tuple(file for file in share.files if file.name in (share.provenance.uploads or ())))


def _check_part(file: JobFile, part: Part | None) -> Part:
    if part is None:
        raise ParameterError(
            f"the share keeps the uploaded files: send the file {file.name[:60]!r} again, as it was sent with the job, "
            "or leave its table out (OMIT)"
        )
    if _hash_part(part) != file.digest:
        raise ParameterError(f"the file {file.name[:60]!r} is not the one with which the job ran: send that one")
    return part


def _hash_part(part: Part) -> str:
    digest = hashlib.sha256()
    with part.open() as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
