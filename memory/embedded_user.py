"""The user that Postgres runs as. Postgres refuses root, and nothing outside the data may change for that.

As root, the server runs as the owner of its data, else as the owner of STEWARD_HOME, else as `nobody`. Where such a
user cannot reach the data or the programs (they may lie below a 0700 folder such as /root), the server keeps
one capability of root, CAP_DAC_OVERRIDE, rather than having permissions of folders changed.

Standard library only: the watcher process runs this without the project's packages.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.embedded_layout import EmbeddedFault, Layout

CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522
PR_SET_KEEPCAPS = 8
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2


@dataclass(frozen=True)
class ServerUser:
    """An unprivileged user, and whether the server needs a capability to reach its files as that user."""

    uid: int
    gid: int
    override: bool = False


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilitySets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def choose_user(layout: Layout, programs: Path) -> ServerUser | None:
    """Whom to run the server as; None: as ourselves."""
    if os.geteuid() != 0:
        return None
    entry = _unprivileged_entry(layout)
    user = ServerUser(entry.pw_uid, entry.pw_gid)
    needed = (programs / "bin" / "postgres", programs / "lib", programs / "share", layout.root)
    if _reaches(user, needed):
        return user
    if not sys.platform.startswith("linux"):
        raise EmbeddedFault(
            f"user {entry.pw_name}, whom Postgres would run as, cannot read {programs} or {layout.root}; "
            "run Steward as an ordinary user, or set DATABASE_URL"
        )
    return ServerUser(user.uid, user.gid, override=True)


def _unprivileged_entry(layout: Layout) -> pwd.struct_passwd:
    for folder in (layout.data, layout.root.parent):
        if folder.exists() and (owner := folder.stat().st_uid) != 0:
            try:
                return pwd.getpwuid(owner)
            except KeyError:
                continue
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        others = [entry for entry in pwd.getpwall() if entry.pw_uid != 0]
    if not others:
        raise EmbeddedFault(
            "Postgres refuses to run as root and there is no other user on this machine; add one, or set DATABASE_URL"
        )
    return others[-1]


def _reaches(user: ServerUser, paths: Sequence[Path]) -> bool:
    """Whether the user may pass all folders on the way and read what is there: tried, not guessed from modes."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            become(user)()
            status = 0 if all(os.access(path, os.R_OK | os.X_OK) for path in paths) else 1
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def become(user: ServerUser | None) -> Callable[[], None]:
    """What a child process runs before exec to become the user for good."""
    if user is None:
        return _nothing
    libc = ctypes.CDLL(None, use_errno=True)

    def switch() -> None:
        os.umask(0o077)
        if user.override:
            _checked(libc.prctl(PR_SET_KEEPCAPS, ctypes.c_ulong(1), _ZERO, _ZERO, _ZERO))
        os.setgroups([])
        os.setgid(user.gid)
        os.setuid(user.uid)
        if user.override:
            _keep_only(libc, CAP_DAC_OVERRIDE)

    return switch


_ZERO = ctypes.c_ulong(0)


def _nothing() -> None:
    os.umask(0o077)


def _keep_only(libc: ctypes.CDLL, capability: int) -> None:
    """Drop every capability but one, and let that one survive exec (an ambient capability)."""
    bit = 1 << capability
    sets = (_CapabilitySets * 2)(_CapabilitySets(bit, bit, bit), _CapabilitySets(0, 0, 0))
    header = _CapabilityHeader(CAPABILITY_VERSION_3, 0)
    _checked(libc.capset(ctypes.byref(header), sets))
    raised = libc.prctl(
        PR_CAP_AMBIENT, ctypes.c_ulong(PR_CAP_AMBIENT_RAISE), ctypes.c_ulong(capability), _ZERO, _ZERO
    )
    _checked(raised)


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), "the capability to read the database's files could not be kept")
