"""``python -m tests.tap_service.unit_sandbox UNIT COMMAND...``: run a command under the restrictions of a unit.

It applies the restrictions that need neither systemd nor root: system calls, address families, executable memory, and
new privileges.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

_PR_SET_NO_NEW_PRIVS, _PR_SET_MDWE, _REFUSE_EXEC_GAIN = 38, 65, 1
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_EQUAL = 4
_UNKNOWN = -1  # __NR_SCMP_ERROR


class _Compared(ctypes.Structure):
    """scmp_arg_cmp: an argument, the comparison, and its operand."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("value", ctypes.c_uint64),
        ("other", ctypes.c_uint64),
    )


def find_missing() -> str:
    """Return what this machine lacks, or '' if the sandbox can be made."""
    if not can_analyze():
        return "systemd-analyze 250 or newer is not installed"
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return "libseccomp.so.2 is not installed"
    return ""


def can_analyze() -> bool:
    """Return whether systemd-analyze can read units without systemd, as it can from version 250."""
    if shutil.which("systemd-analyze") is None:
        return False
    said = subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.split()[1]) >= 250


def read_unit(path: Path) -> dict[str, list[str]]:
    """Return all values of each option of [Service]."""
    values: dict[str, list[str]] = {}
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            values.setdefault(name, []).append(value)
    return values


def list_calls(group: str) -> set[str]:
    """Return the system calls of a group, which may contain groups."""
    if not group.startswith("@"):
        return {group}
    answer = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True)
    words = (line.strip() for line in answer.stdout.splitlines()[1:])
    return {call for word in words if word and not word.startswith("#") for call in list_calls(word)}


def confine(unit: dict[str, list[str]]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    if unit.get("MemoryDenyWriteExecute") == ["yes"] and libc.prctl(_PR_SET_MDWE, _REFUSE_EXEC_GAIN, 0, 0, 0):
        print("note: this kernel cannot refuse executable memory", file=sys.stderr)
    allowed = list_calls("@default") | {call for group in unit["SystemCallFilter"] for call in list_calls(group)}
    families = [getattr(socket, name) for name in unit["RestrictAddressFamilies"][0].split()]
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(seccomp.seccomp_init(_REFUSE | errno.EPERM))
    for call in allowed:
        number = seccomp.seccomp_syscall_resolve_name(call.encode())
        if number == _UNKNOWN:
            continue
        compared = [_Compared(0, _EQUAL, int(family), 0) for family in families] if call == "socket" else [None]
        for one in compared:
            count, array = (0, None) if one is None else (1, ctypes.byref(one))
            assert seccomp.seccomp_rule_add_array(context, _ALLOW, number, count, array) == 0, call
    assert seccomp.seccomp_load(context) == 0


if __name__ == "__main__":
    confine(read_unit(Path(sys.argv[1])))
    os.execv(sys.argv[2], sys.argv[2:])
