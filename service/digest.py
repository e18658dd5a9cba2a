"""Names for values: short hashes, by which verdicts say what they were judged by and copies are known as one."""

from hashlib import blake2b
from typing import Any, Final

import orjson

_BYTES: Final = 16


def digest(value: Any) -> str:
    """Return a hex digest of a record made of tuples, strings, numbers and None."""
    return blake2b(orjson.dumps(value, default=list), digest_size=_BYTES).hexdigest()


def hashed(*parts: str | bytes | int) -> str:
    """Return a hex digest of parts in their order."""
    return begun(*parts).hexdigest()


def begun(*parts: str | bytes | int) -> blake2b:
    """Return a hash of parts that goes on with others; each stands behind its length, so that no two lists are one."""
    whole = blake2b(digest_size=_BYTES)
    for part in parts:
        value = part if isinstance(part, bytes) else str(part).encode()
        whole.update(b"%d:%b" % (len(value), value))
    return whole
