"""Identifiers: ULIDs (48 bits of milliseconds, 80 random bits, Crockford base 32), and short content hashes."""

import posix
import time

from memtui.base import native_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PRIME = 1073741789  # below 2^30, by which Python divides fastest
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_blake2b: "Any" = None


def new_id(seconds: "float | None" = None) -> str:
    """Return a new ULID of 26 characters; later ones sort after earlier ones."""
    return ulid(time.time() if seconds is None else seconds, posix.urandom(10))


def ulid(seconds: float, random: bytes) -> str:
    """Return the ULID of a time, in seconds since the epoch, with 10 random bytes."""
    number = int(seconds * 1000) << 80 | int.from_bytes(random, "big")
    return "".join([_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5)])


def id_time(ulid: str) -> "float | None":
    """Return when a ULID was made, in seconds since the epoch; None for text that is no ULID."""
    if len(ulid) != 26:
        return None
    number = 0
    for char in ulid[:10].upper():
        digit = _ALPHABET.find(char)
        if digit < 0:
            return None
        number = number << 5 | digit
    return number / 1000.0


def number_of(data: bytes) -> int:
    """Return a number below 2^30 that tells bytes apart, not for adversaries: no library is loaded for it."""
    return int.from_bytes(data, "little") % PRIME


def content_hash(data: "bytes | str") -> str:
    """Return 16 hex digits of BLAKE2b: a name for content, by which a change is seen."""
    return digest(data, 8)


def digest(data: "bytes | str", size: int = 32) -> str:
    """Return BLAKE2b in hex, `size` bytes of it; 32 where someone might make two contents with the same hash."""
    global _blake2b  # noqa: PLW0603  loaded once
    if _blake2b is None:
        try:
            _blake2b = native_hot.load("_blake2").blake2b
        except ImportError:
            from hashlib import blake2b as _blake2b
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return str(_blake2b(data, digest_size=size).hexdigest())
