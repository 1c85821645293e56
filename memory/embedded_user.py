"""The user that Postgres runs as. Postgres refuses root, and nothing outside the data may change for that.

As root, the server runs as the owner of its data, else as the owner of STEWARD_HOME, else as `nobody`. Where such a
user cannot reach the data or the programs (they may lie below a 0700 folder such as /root), the server keeps one
capability of root rather than having permissions of folders changed: CAP_DAC_READ_SEARCH, which lets it read and
pass, or where the programs themselves are closed to others CAP_DAC_OVERRIDE.

Standard library only: the watcher process runs this without the project's packages.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memory.embedded_layout import EmbeddedFault, Layout

CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2
CAPABILITY_VERSION_3 = 0x20080522
PR_SET_SECUREBITS = 28
SECBIT_NO_SETUID_FIXUP = 1 << 2
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2


@dataclass(frozen=True)
class ServerUser:
    """An unprivileged user, and the capability of root that is kept, if any."""

    uid: int
    gid: int
    capability: int | None = None


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
    capabilities = (
        (None, CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE) if sys.platform.startswith("linux") else (None,)
    )
    for capability in capabilities:
        user = ServerUser(entry.pw_uid, entry.pw_gid, capability)
        if _reaches(user, layout, programs):
            return user
    raise EmbeddedFault(
        f"Postgres refuses to run as root, and user {entry.pw_name}, whom it would run as, cannot be become here "
        f"or cannot read {programs} and {layout.root}; run Steward as an ordinary user, or set DATABASE_URL"
    )


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


def _reaches(user: ServerUser, layout: Layout, programs: Path) -> bool:
    """Whether the user can run the programs and pass to the data: tried in a child, not guessed from modes."""
    initdb = programs / "bin" / "initdb"
    switch = become(user)
    child = os.fork()
    if child == 0:
        try:
            switch()
            os.stat(layout.root / ".")
            for library in (programs / "lib", programs / "share"):
                os.listdir(library)
            if not os.access(programs / "bin" / "postgres", os.X_OK):
                os._exit(1)
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            os.execv(initdb, [str(initdb), "--version"])
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def become(user: ServerUser | None) -> Callable[[], None]:
    """What a child process runs before exec to become the user for good."""
    if user is None:
        return _nothing
    libc = ctypes.CDLL(None, use_errno=True)

    def switch() -> None:
        os.umask(0o077)
        if user.capability is not None:
            # Keeps capabilities over setuid, and lets access(2), by which Postgres looks for itself, respect them.
            bits = ctypes.c_ulong(SECBIT_NO_SETUID_FIXUP)
            _checked(libc.prctl(PR_SET_SECUREBITS, bits, _ZERO, _ZERO, _ZERO))
        os.setgroups([])
        os.setgid(user.gid)
        os.setuid(user.uid)
        if user.capability is not None:
            _keep_only(libc, user.capability)

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
