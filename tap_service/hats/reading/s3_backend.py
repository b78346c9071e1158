"""A folder in an S3-compatible object store."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from clickhouse_schema.hats.hats_error import HatsError
from tap_service.hats.reading.folder_backend import (
    FileMissing,
    FileVersion,
    PassingFailure,
    Patience,
    refuse_other_version,
)
from tap_service.storage.object_store_error import describe_store_error

_Answer = TypeVar("_Answer")

_TOTAL = re.compile(r"bytes \d+-\d+/(\d+)")


class S3Backend:
    """The objects below ``address``, an s3 URL, with the credentials and endpoint that botocore finds.

    ``FSSPEC_S3_ANON=true`` in the environment reads public buckets without credentials.
    """

    def __init__(self, address: str, patience: Patience) -> None:
        try:
            from fsspec.asyn import sync
            from s3fs import S3FileSystem
        except ImportError:
            raise HatsError(f"{address}: s3:// needs s3fs: install skyhouse[s3]") from None
        self._address = address
        self._patience = patience
        self._bucket, _, self._prefix = address.removeprefix("s3://").partition("/")
        self._sync = sync
        # a separate instance without retries: the folder repeats requests
        self._files = S3FileSystem(
            config_kwargs={
                "connect_timeout": patience.connect_seconds,
                "read_timeout": patience.silence_seconds,
                "retries": {"max_attempts": 0},
            },
            use_listings_cache=False,
            skip_instance_cache=True,
        )
        self._files.retries = 1

    def stat(self, path: str) -> FileVersion:
        async def ask() -> FileVersion:
            answer = await self._files._call_s3("head_object", Bucket=self._bucket, Key=self._key(path))
            return FileVersion(answer["ContentLength"], answer["ETag"])

        return self._call(path, ask, 0)

    def read(self, path: str, start: int, length: int, version: FileVersion) -> bytes:
        async def ask() -> bytes:
            answer = await self._files._call_s3(
                "get_object",
                Bucket=self._bucket,
                Key=self._key(path),
                Range=f"bytes={start}-{start + length - 1}",
            )
            async with answer["Body"] as body:
                found = _TOTAL.fullmatch(answer.get("ContentRange", ""))
                now = FileVersion(int(found[1]) if found else answer["ContentLength"], answer["ETag"])
                refuse_other_version(self._name(path), now, version)
                data: bytes = await body.read()
            return data

        return self._call(path, ask, length)

    def list_files(self, path: str) -> list[str]:
        root = "/".join(filter(None, (self._bucket, self._prefix)))

        async def ask() -> list[str]:
            return [name.removeprefix(f"{root}/") for name in await self._files._find(f"{root}/{path}".rstrip("/"))]

        try:
            return self._call(path, ask, 64 << 20)
        except FileMissing:
            return []

    def _key(self, path: str) -> str:
        return f"{self._prefix}/{path}" if self._prefix else path

    def _name(self, path: str) -> str:
        return f"{self._address}/{path}"

    def _call(self, path: str, ask: Callable[[], Awaitable[_Answer]], size: int) -> _Answer:
        """Return the answer to a request for about ``size`` bytes."""
        from botocore.exceptions import NoCredentialsError, ParamValidationError

        try:
            result: _Answer = self._sync(self._files.loop, ask, timeout=self._patience.limit_seconds(size))
        except HatsError:
            raise
        except (FileNotFoundError, PermissionError) as error:
            raise FileMissing(f"{self._name(path)} does not exist: the store answered {error}") from None
        except (NoCredentialsError, ParamValidationError) as error:
            raise HatsError(f"{self._name(path)}: {describe_store_error(error)}") from None
        except Exception as error:  # botocore, aiohttp and s3fs raise many types
            raise PassingFailure(f"{type(error).__name__}: {error}".rstrip(": ")) from None
        return result
