"""Worlds as fixtures give them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from stream.world import World, world

Make = Callable[..., World]


@contextmanager
def worlds(bootstrap: str, partitions: int) -> Iterator[Make]:
    """Give what makes worlds with their topics, of so many partitions if nobody says otherwise; all end together."""
    with ExitStack() as stack:

        def make(partitions: int = partitions, **settings: Any) -> World:
            made = stack.enter_context(world(bootstrap, **settings))
            made.create(partitions)
            return made

        yield make
