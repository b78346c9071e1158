"""An S3-compatible server in this process."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from moto.server import ThreadedMotoServer
from s3fs import S3FileSystem


@contextmanager
def running_object_store(bucket: str) -> Iterator[str]:
    """Create a bucket, the only one of a new server; yield its URL. The environment names the server."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
    # file systems are cached by their arguments, which do not name the server
    S3FileSystem.clear_instance_cache()
    try:
        with pytest.MonkeyPatch.context() as environment:
            for name, value in (settings | {"AWS_ENDPOINT_URL": f"http://{host}:{port}"}).items():
                environment.setenv(name, value)
            S3FileSystem().mkdir(bucket)
            yield f"s3://{bucket}"
    finally:
        server.stop()
