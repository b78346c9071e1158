"""A real nginx with TLS in front of a service, under a path prefix, configured as in docs/configuration.md."""

from __future__ import annotations

import getpass
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.environment import ROOT
from tests.support.ports import free_port

#: the path prefix of the service
PREFIX = "/archive"

_MAIN = """
daemon off;
user {user};
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
    {servers}
}}
"""
_SERVER = """
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        {location}
    }}
"""
_DOCUMENTED = re.compile(r"```nginx\n(location /archive/ \{.*?\})\n```", re.DOTALL)
_SELF_SIGNED = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
_FOR_HOSTS = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
_SEARCH_PATH = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/opt/homebrew/bin"


@contextmanager
def behind_nginx(folder: Path, upstream: str) -> Iterator[tuple[str, Path]]:
    """The address at which ``upstream`` is visible, and the certificate to trust."""
    certificate, key = make_certificate(folder)
    port = free_port()
    [location] = _DOCUMENTED.findall((ROOT / "docs" / "configuration.md").read_text())
    location = location.replace("http://127.0.0.1:8000", upstream)
    server = _SERVER.format(port=port, certificate=certificate, key=key, location=location)
    with running_nginx(folder, server, port):
        yield f"https://localhost:{port}{PREFIX}", certificate


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = [*_SELF_SIGNED, *_FOR_HOSTS, "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@contextmanager
def running_nginx(folder: Path, servers: str, port: int) -> Iterator[None]:
    """An nginx with these ``server`` blocks, once it listens on one of their ports."""
    configuration = folder / "nginx.conf"
    configuration.write_text(_MAIN.format(folder=folder, servers=servers, user=getpass.getuser()))
    nginx = shutil.which("nginx", path=_SEARCH_PATH)
    assert nginx, "these tests need nginx: install it with the system's package manager"
    process = subprocess.Popen([nginx, "-c", configuration, "-e", folder / "error.log"])
    try:
        while not _listens(port):
            assert process.poll() is None, (folder / "error.log").read_text()
            time.sleep(0.02)
        yield
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
