"""Errors of botocore, which is installed where object stores are used."""

from __future__ import annotations


def describe_store_error(error: BaseException) -> str:
    """Explain an error of botocore.

    Parameters
    ----------
    error : BaseException
        Any error; botocore need not be installed.

    Returns
    -------
    str
        The reason, and what to do about missing credentials; '' for an error of another library.
    """
    try:
        from botocore.exceptions import BotoCoreError, NoCredentialsError
    except ImportError:
        return ""
    if isinstance(error, NoCredentialsError):
        return (
            "there are no credentials: give this process AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
            "FSSPEC_S3_ANON=true for a public bucket"
        )
    return str(error) if isinstance(error, BotoCoreError) else ""
