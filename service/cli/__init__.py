"""The command line: `turnjudge COMMAND`, a module per command group, each read only when it is asked for.

Exit codes (design section 12): 0 fine; 1 the answer is bad; 2 usage, configuration or a file that cannot be read;
3 some results are errors; 130 interrupted; 141 the reader of our output went away.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

import click

from service.cli.misspelt import misspelt
from service.errors import OperatorError

USAGE: Final = 2
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141


class Entry(NamedTuple):
    """A command: its name, the module and attribute that hold it, and its line in `turnjudge --help`."""

    name: str
    module: str
    attribute: str
    line: str


ENTRIES: Final = (
    Entry("judge", "service.cli.judging", "judge", "Judge a file of turns."),
    Entry("verify", "service.cli.judging", "verify", "Check a file of verdicts again, by the ten items."),
    Entry("explain", "service.cli.explaining", "explain", "Explain how the verdict of one turn came about."),
    Entry("worker", "service.cli.worker", "worker", "Judge chat turns from Kafka until it is told to stop."),
    Entry("narrate", "service.cli.narrating", "narrate", "Publish a summary of each verdict, in a model's words."),
    Entry("canary", "service.cli.canary", "canary", "Send turns whose verdict is known, and tell whether it came."),
    Entry("spikes", "service.cli.spikes", "spikes", "Publish when a forbidden topic is suddenly touched much more."),
    Entry("demo", "service.cli.demo", "demo", "Show a sample chat judged live, on an embedded broker, with the page."),
    Entry("topics", "service.cli.kafka", "topics", "Create the topics."),
    Entry("load", "service.cli.kafka", "load", "Load cards, a lexicon or turns from a file."),
    Entry("tail", "service.cli.kafka", "tail", "Follow verdicts, summaries, spikes or dead letters."),
    Entry("replay", "service.cli.kafka", "replay", "Send dead letters of a reason to be judged again."),
    Entry(
        "forget", "service.cli.forgetting", "forget", "Forget a session, or a character's, everywhere, with a receipt."
    ),
    Entry(
        "oracle", "service.cli.oracle", "oracle", "Hold outputs against evaluation criteria; oracle lint checks them."
    ),
    Entry("page", "service.cli.page", "page", "Serve the page on which verdicts are read."),
    Entry("evaluate", "service.cli.evaluate", "evaluate", "Say how far the judge agrees with people."),
    Entry("compare-models", "service.cli.evaluate", "compare_models", "Compare models on the same prompts."),
    Entry("what-if", "service.cli.evaluate", "what_if", "Show which verdicts a change would flip."),
    Entry("schema", "service.cli.reading", "schema", "Print the JSON Schema of a record."),
    Entry("rules", "service.cli.reading", "rules", "Explain the checks, the hedge codes and the ten items."),
    Entry("metrics", "service.cli.metrics", "metrics", "List what Prometheus is told, with unit and meaning."),
    Entry("lexicon", "service.cli.workshop", "lexicon", "Check and try a topic lexicon."),
    Entry("cards", "service.cli.workshop", "cards", "Check character cards."),
    Entry("accuracy", "service.cli.accuracy", "accuracy", "Measure the profiles on public text."),
)


class Commands(click.Group):
    """The commands of `ENTRIES`; `--help` lists them without reading their modules, so that it is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return [entry.name for entry in ENTRIES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Read the module that holds a command."""
        for entry in ENTRIES:
            if entry.name == cmd_name:
                command: click.Command = getattr(import_module(entry.module), entry.attribute)
                return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.line) for entry in ENTRIES])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="turnjudge")
def turnjudge() -> None:
    """Judge, turn by turn and live, whether a character's reply kept to its character card.

    Data goes to stdout or --out, everything else to stderr. Exit codes: 0 fine, 1 the answer is bad, 2 usage or
    configuration, 3 some results are errors.
    """
    for line in misspelt(os.environ):
        click.echo(line, err=True)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; what an operator can mend is one line on stderr."""
    try:
        with turnjudge.make_context("turnjudge", list(arguments)) as context:
            turnjudge.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return USAGE
    except OperatorError as error:
        return _say(str(error), USAGE)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        return _say(f"{error.filename}: {error.strerror}" if error.filename else str(error), USAGE)
    return 0


def _say(message: str, code: int) -> int:
    click.echo(f"turnjudge: {' '.join(message.split())}", err=True)
    return code


def main() -> None:
    """Run the command line of this process."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - as long as the process
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        # What is still buffered would be written, and fail once more, as the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or BROKEN_PIPE
    sys.exit(code)
