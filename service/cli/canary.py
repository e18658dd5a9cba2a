"""`turnjudge canary`: turns whose verdict is known, sent to find out whether they get it."""

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import click

from service.canary.settings import CanarySettings
from service.cli.environment import BROKERS, naming
from service.cli.stopping import until_stopped
from service.settings import load_settings

if TYPE_CHECKING:
    from service.canary.watching import Answer

_Command: Final = naming(CanarySettings)
_BAD: Final = 1


@click.command(cls=_Command)
@BROKERS
@click.option("--once", is_flag=True, help="Send the whole script to every partition, wait for its verdicts, and end.")
@click.option("--interval", "canary_interval_s", metavar="SECONDS", help="Time between two turns.")
@click.option("--http-host", "canary_http_host", metavar="ADDRESS", help="Address of /metrics and /healthz.")
@click.option("--http-port", "canary_http_port", metavar="PORT", help="Their port; 0 takes a free one.")
@click.option("--log-level", metavar="LEVEL", help="DEBUG, INFO, WARNING or ERROR.")
def canary(once: bool, **options: Any) -> None:
    """Send a turn a minute whose verdict is known, and tell Prometheus whether it came back right.

    The turns are those of a reserved character whose card every worker has built in. They go to one partition after the
    other, five to a session, one for each verdict. Verdicts of chats are counted and shown without them.

    Exit codes: 0 stopped, or with --once every verdict came back right; 1 with --once one did not; 2 wrong settings or
    topics, or brokers that cannot be reached at the start.
    """
    from service.canary.watching import Answer, watch, watch_once
    from service.logs import set_up_logs

    settings = load_settings(CanarySettings, **options)
    set_up_logs(settings.log_level)

    def started(address: str | None) -> None:
        every = f"a turn every {settings.canary_interval_s:g} s"
        _say(f"{every} to {settings.topics.chat_turns}, metrics at {address}/metrics")

    with until_stopped() as stopping:
        answers = watch_once(settings, stopping) if once else watch(settings, stopping, started)
    _say(_line(answers))
    if once and answers.total() != answers[Answer.RIGHT]:
        click.get_current_context().exit(_BAD)


def _line(answers: "Counter[Answer]") -> str:
    from service.canary.watching import Answer

    return ", ".join(f"{answers[each]:,} {each.value}" for each in Answer)


def _say(line: str) -> None:
    click.echo(line, err=True)
