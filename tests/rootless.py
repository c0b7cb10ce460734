"""Root without its powers over files: what is closed to a user is closed to these tests as well.

Root may read and write everything, by the capabilities CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (capabilities(7)). This
thread gives both up for a while, and so do the programs that it starts then.
"""

import contextlib
import ctypes
import os
import struct
import sys

PR_GET_SECUREBITS, PR_SET_SECUREBITS = 27, 28
# A program that root starts gets no capabilities; access(2) goes by those in effect.
SECBIT_NOROOT, SECBIT_NO_SETUID_FIXUP = 1 << 0, 1 << 2
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1 << 1, 1 << 2
SYSCALLS = {"x86_64": (125, 126), "aarch64": (90, 91)}  # capget and capset, which the C library does not declare
HEADER = struct.pack("=Ii", 0x20080522, 0)


def powers() -> bytearray:
    """Return the capability sets of this thread: (effective, permitted, inheritable) twice. Raises OSError."""
    sets = bytearray(24)
    _call(SYSCALLS[os.uname().machine][0], sets)
    return sets


def _call(number: int, sets: bytearray) -> None:
    data = (ctypes.c_char * len(sets)).from_buffer(sets)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(number), ctypes.c_char_p(HEADER), data):
        raise OSError(ctypes.get_errno(), "capget or capset")


@contextlib.contextmanager
def rootless():
    """Give up root's powers over files. For others than root nothing is done. Raises OSError where root can't."""
    if os.geteuid() or sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    before, bits = powers(), libc.prctl(PR_GET_SECUREBITS)
    if libc.prctl(PR_SET_SECUREBITS, bits | SECBIT_NOROOT | SECBIT_NO_SETUID_FIXUP):
        raise OSError(ctypes.get_errno(), "prctl")
    less = bytearray(before)
    less[0] &= ~(CAP_DAC_OVERRIDE | CAP_DAC_READ_SEARCH)
    _call(SYSCALLS[os.uname().machine][1], less)
    try:
        yield
    finally:
        _call(SYSCALLS[os.uname().machine][1], before)
        libc.prctl(PR_SET_SECUREBITS, bits)
