"""Options that several commands share, each said once."""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Final

import click

from rules.profile import PROFILE_NAMES
from service.decode import Caps
from service.files.judging import Order

Option = Callable[[Callable[..., Any]], Callable[..., Any]]

_CAPS: Final = Caps()
CAPS: Final[tuple[Option, ...]] = (
    click.option(
        "--max-record-bytes",
        type=click.IntRange(min=1),
        default=_CAPS.max_record_bytes,
        envvar="TURNJUDGE_MAX_RECORD_BYTES",
        show_default=True,
        show_envvar=True,
        help="The longest record that is taken.",
    ),
    click.option(
        "--max-names",
        type=click.IntRange(min=1),
        default=_CAPS.max_names,
        envvar="TURNJUDGE_MAX_NAMES",
        show_default=True,
        show_envvar=True,
        help="The most names a turn may list.",
    ),
)
PROFILE_FILE: Final[Option] = click.option(
    "--profile-file",
    type=click.Path(path_type=Path),
    envvar="TURNJUDGE_PROFILE_FILE",
    show_envvar=True,
    metavar="FILE",
    help="Words of your own for the extended profile, TOML.",
)


def gathered(name: str, options: Sequence[Option], make: Callable[..., Any]) -> Option:
    """Return what gives a command some options as one argument, made by `make` of those it has parameters for."""
    wanted = tuple(signature(make).parameters)

    def taking(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def taken(**given: Any) -> Any:
            own = {key: given.pop(key) for key in wanted}
            return command(**{name: make(**own)}, **given)

        wrapped: Callable[..., Any] = taken
        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return taking


def format_option(*forms: str, meaning: str = "How it is shown.") -> Option:
    """Return the option that says how a result is shown, in the first form where nothing is said."""
    return click.option("--format", "form", type=click.Choice(forms), default=forms[0], show_default=True, help=meaning)


def order_option(meaning: str) -> Option:
    """Return the option that says which turns are earlier."""
    return click.option(
        "--order",
        type=click.Choice([order.value for order in Order]),
        default=Order.ID.value,
        show_default=True,
        help=meaning,
    )


def profile_option(name: str, meaning: str) -> Option:
    """Return an option that names a profile."""
    return click.option(
        name,
        "profile",
        type=click.Choice(PROFILE_NAMES),
        default=PROFILE_NAMES[0],
        envvar="TURNJUDGE_PROFILE",
        show_default=True,
        show_envvar=True,
        help=meaning,
    )
