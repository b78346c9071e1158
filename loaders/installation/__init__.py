"""Files of an installation: systemd units and the configuration of nginx. docs/install.md says where they go."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent

INSTALLATION_FILES = (
    "skyhouse.service",
    "skyhouse-worker.service",
    "skyhouse-backup.service",
    "skyhouse-backup.timer",
    "nginx.conf",
)


def read_installation_file(name: str) -> str:
    """Return the text of one of ``INSTALLATION_FILES``."""
    return (_FOLDER / name).read_text(encoding="utf-8")
