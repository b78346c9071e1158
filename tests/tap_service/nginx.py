"""A real nginx with TLS before a service, which it shows under a path prefix."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: where the service is mounted
PREFIX = "/archive"

_CONFIGURATION = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/certificate.pem;
        ssl_certificate_key {folder}/key.pem;
        location {prefix}/ {{
            proxy_pass {upstream}/;
            proxy_http_version 1.1;
            proxy_buffering off;
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_set_header X-Forwarded-Host $http_host;
            proxy_set_header X-Forwarded-Prefix {prefix};
        }}
    }}
}}
"""
_SELF_SIGNED = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
_FOR_HOSTS = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
_PLACES = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/opt/homebrew/bin"


@contextmanager
def behind_nginx(folder: Path, upstream: str) -> Iterator[tuple[str, Path]]:
    """The address where ``upstream`` is seen, and the certificate to trust."""
    certificate = folder / "certificate.pem"
    subprocess.run(
        [*_SELF_SIGNED, *_FOR_HOSTS, "-keyout", folder / "key.pem", "-out", certificate],
        check=True,
        capture_output=True,
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    configuration = folder / "nginx.conf"
    configuration.write_text(_CONFIGURATION.format(folder=folder, port=port, upstream=upstream, prefix=PREFIX))
    nginx = shutil.which("nginx", path=_PLACES)
    assert nginx, "these tests need nginx: install it with the system's package manager"
    process = subprocess.Popen([nginx, "-c", configuration, "-e", folder / "error.log"])
    try:
        while not _listens(port):
            assert process.poll() is None, (folder / "error.log").read_text()
            time.sleep(0.02)
        yield f"https://localhost:{port}{PREFIX}", certificate
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
