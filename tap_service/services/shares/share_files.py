"""The uploads of a shared query: the client sends them again, and they are compared with the uploads of the job.

An upload that the query does not read is not requested, stored or shown.
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
    share, job : Share, Job
        A share without files, and its job.
    sent : Mapping[str, Part]
        The files of the request, by the names of their parts in the request that created the job.
    omitted : Collection[str]
        The names of tables that the share does not keep.

    Raises
    ------
    ParameterError
        A file is missing, or differs from the file of the job; a table was fetched from a URL; OMIT names a table that
        is not an upload.
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
                f"the table {upload.name} was uploaded from a URL, whose content may change: run the query with the "
                "file itself, then share that job"
            )
        part, kind = upload.part, upload.part.content_type
        if (job_file := job_files.get(id(part))) is not None:
            part, kind = _check_part(job_file, sent.get(job_file.name)), job_file.content_type
        files.append(JobFile(upload.name, file_key(share.share_id, number), part.size, kind, _hash_part(part)))
        parts.append(part)
    return replace(share, files=tuple(files)), parts


def note_uploads(share: Share, names: Sequence[str]) -> Share:
    """Return the share with the list of the uploads that its query reads.

    Jobs of earlier versions, and their shares, have no such list; it is then found in the query.

    Parameters
    ----------
    share : Share
        The share.
    names : Sequence[str]
        The names of all uploads of the job.
    """
    if share.provenance.uploads is not None:
        return share
    try:
        read = {tuple(part.lower() for part in name) for name in check_without_tables(share.query)} if names else set()
        uploads = tuple(name for name in names if {(name.lower(),), (UPLOAD_SCHEMA.lower(), name.lower())} & read)
    except AdqlError:  # an earlier version accepted it
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
            "or leave its table out with OMIT"
        )
    if _hash_part(part) != file.digest:
        raise ParameterError(f"the file {file.name[:60]!r} differs from the file of the job: send the same file")
    return part


def _hash_part(part: Part) -> str:
    digest = hashlib.sha256()
    with part.open() as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
