"""Settings on the command line: read from the environment, and named in `--help`."""

from typing import Final

import click
from pydantic_settings import BaseSettings

from service.settings import variables


def naming(*settings: type[BaseSettings]) -> type[click.Command]:
    """Return a kind of command whose `--help` ends with the environment variables of classes of settings."""

    class Command(click.Command):
        def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            """Write the table of variables."""
            super().format_epilog(ctx, formatter)
            with formatter.section("Environment"):
                formatter.write_dl(
                    [
                        (name, description + (f" [default: {default}]" if default else ""))
                        for each in settings
                        for name, default, description in variables(each)
                    ]
                )

    return Command


BROKERS: Final = click.option(
    "--brokers",
    envvar="TURNJUDGE_BROKERS",
    show_envvar=True,
    metavar="HOST:PORT,...",
    help="Brokers to begin with.",
)
