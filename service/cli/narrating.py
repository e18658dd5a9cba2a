"""`turnjudge narrate`, and the summaries of `turnjudge judge`: verdicts in a model's words."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from schemas.verdict import VerdictWord
from service.cli.environment import BROKERS, naming
from service.cli.inputs import is_same
from service.cli.progress import Progress
from service.cli.stopping import until_stopped
from service.errors import OperatorError
from service.files.writing import written
from service.llm.settings import LlmSettings
from service.narrate.settings import NarratorSettings
from service.settings import load_settings

if TYPE_CHECKING:
    from service.llm.client import Client

_Command: Final = naming(NarratorSettings, LlmSettings)


@click.command(cls=_Command)
@BROKERS
@click.option("--group", metavar="NAME", help="Consumer group of the judge; the narrator's is NAME-narrator.")
@click.option("--skip-kept", is_flag=True, help=f"Leave {VerdictWord.KEPT.value} to the rule, and ask nothing.")
@click.option("--http-host", "narrator_http_host", metavar="ADDRESS", help="Address of /metrics and /healthz.")
@click.option("--http-port", "narrator_http_port", metavar="PORT", help="Their port; without one there are none.")
@click.option("--log-level", metavar="LEVEL", help="DEBUG, INFO, WARNING or ERROR.")
def narrate(skip_kept: bool, **options: Any) -> None:
    """Publish a summary of each verdict on the summaries' topic, until SIGTERM or Ctrl-C.

    The model writes a sentence, and may change nothing else: an answer with another verdict, a column or a value that
    is not the verdict's, or a sentence that says something else is thrown away, and the rule's sentence stands. So it
    does when the endpoint is down, slow or out of budget. The record says by whom its sentence is, and if by the rule,
    why.

    Exit codes: 0 drained; 2 wrong settings or topics, or brokers that cannot be reached. A verdict whose summary was
    not acknowledged is told again by the next run.
    """
    from service.llm.client import opened
    from service.logs import set_up_logs
    from service.narrate.stage import narrate as run

    settings, model = load_settings(NarratorSettings, **options), load_settings(LlmSettings)
    set_up_logs(settings.log_level)

    def started(address: str | None) -> None:
        topics = settings.topics
        skipped = f", {VerdictWord.KEPT.value} left to the rule" if skip_kept else ""
        where = f", metrics at {address}/metrics" if address else ""
        _say(f"narrating {topics.turn_verdicts} into {topics.turn_summaries} {_with(model)}{skipped}{where}")

    with until_stopped() as stopping, opened(model) as client:
        figures = run(settings, client, model.llm_concurrency, skip_kept=skip_kept, stopping=stopping, started=started)
        _say(f"{figures}; {_spent(client)}")


def wanted_model(summaries: str, out: str | None, rejects: str | None) -> LlmSettings:
    """Return the model that is to write summaries of the verdicts in `out`, before anything is judged.

    Raises:
        OperatorError: the verdicts do not go to a file of their own, or the model's settings are wrong.
    """
    from service.llm.client import opened

    if out is None or out == "-" or (Path(out).exists() and not Path(out).is_file()):
        raise OperatorError("--summaries: expected with --out, and that a file")
    if is_same(summaries, out) or is_same(summaries, rejects):
        raise OperatorError("--summaries: expected a file of its own")
    model = load_settings(LlmSettings)
    with opened(model):  # its files are read by that
        return model


def write_summaries(model: LlmSettings, verdicts: str, path: str) -> None:
    """Write a summary for every verdict of a file, in its order; figures go to stderr."""
    from service.llm.client import opened
    from service.narrate.asking import telling
    from service.narrate.lines import tell_lines
    from service.narrate.telling import Narrator

    at_once = model.llm_concurrency
    with (
        opened(model) as client,
        Path(verdicts).open("rb") as lines,
        written(path) as file,
        telling(Narrator(client), at_once) as tell,
    ):
        figures = tell_lines(Progress().track("summaries", lines), tell, at_once, file.write)
        _say(f"{figures} {_with(model)}; {_spent(client)}")


def _with(model: LlmSettings) -> str:
    return f"with {model.llm_model} at {urlsplit(model.llm_url).netloc}"


def _spent(client: "Client") -> str:
    spent = client.spent
    money = f", money {spent.money:g}" if spent.money else ""
    tokens = f"{spent.prompt_tokens:,} + {spent.completion_tokens:,} tokens"
    return f"{spent.calls:,} requests, {spent.cached:,} from the cache, {tokens}{money}"


def _say(line: str) -> None:
    click.echo(line, err=True)
