"""Variables that begin as ours do and are none: what somebody set by them is said to be lost, not passed over.

They are no error: a release starts with the settings that the next one has added, so that one can go back to it.
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

_OURS: Final = "TURNJUDGE_"
_TESTS: Final = "TURNJUDGE_TEST_"  # what tests are told, which the commands they start are told, too


def misspelt(environment: Iterable[str]) -> Iterator[str]:
    """Yield a line for each variable of an environment that begins with TURNJUDGE_ and that no command reads."""
    names = {name.upper() for name in environment}
    asked = sorted(name for name in names if name.startswith(_OURS) and not name.startswith(_TESTS))
    known = _known() if asked else frozenset()
    for name in asked:
        if name not in known:
            # Without what all begin with, or any two would be near each other.
            near = get_close_matches(name.removeprefix(_OURS), [each.removeprefix(_OURS) for each in sorted(known)], 1)
            meant = f"; did you mean {_OURS}{near[0]}?" if near else ""
            yield f"turnjudge: {name}: no such setting, so nothing reads it{meant}"


def _known() -> frozenset[str]:
    """Return the variables of every command; read late, for reading them takes a while."""
    from service.canary.settings import CanarySettings
    from service.llm.settings import LlmSettings
    from service.narrate.settings import NarratorSettings
    from service.review.pages.settings import PageSettings
    from service.settings import variables
    from service.spikes.settings import SpikesSettings
    from service.stream.settings import WorkerSettings

    every = (WorkerSettings, NarratorSettings, CanarySettings, SpikesSettings, PageSettings, LlmSettings)
    return frozenset(variable.name for each in every for variable in variables(each))
