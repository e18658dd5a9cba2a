"""What records are read and judged with, whoever of the page does it."""

from typing import NamedTuple

from schemas.words import UserWords
from service.decode import Caps
from service.profiles import AnyProfile


class Bench(NamedTuple):
    """How records are read and judged: the caps, the profiles, the default first, and the words of a profile file.

    `ttl_ms` is how long the workers remember a name, None for ever.
    """

    caps: Caps
    profiles: tuple[AnyProfile, ...]
    words: UserWords = UserWords()
    ttl_ms: int | None = None
