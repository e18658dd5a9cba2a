"""`turnjudge spikes`: forbidden topics that are suddenly touched much more than the day before."""

from typing import Any, Final

import click

from service.cli.environment import BROKERS, naming
from service.cli.stopping import until_stopped
from service.settings import load_settings
from service.spikes.settings import SpikesSettings

_Command: Final = naming(SpikesSettings)


@click.command(cls=_Command)
@BROKERS
@click.option("--group", metavar="NAME", help="Consumer group of the judge; that of spikes is NAME-spikes.")
@click.option("--from-beginning", is_flag=True, help="Say all spikes of the verdicts that are there, past ones too.")
@click.option("--http-host", "spikes_http_host", metavar="ADDRESS", help="Address of /metrics and /healthz.")
@click.option("--http-port", "spikes_http_port", metavar="PORT", help="Port of /metrics and /healthz.")
@click.option("--log-level", metavar="LEVEL", help="DEBUG, INFO, WARNING or ERROR.")
def spikes(from_beginning: bool, **options: Any) -> None:
    """Publish on the spikes' topic when a forbidden topic's spike opens and closes, until SIGTERM or Ctrl-C.

    For each topic, and for each topic of a character, the sessions that touched it within 5 min, 30 min and 2 h are
    compared with the day before, by an exact test. Time is that of the turns: a replay of old ones is no spike, and
    the same verdicts lead to the same records, whoever runs this and how often. While there is no day to compare
    with, nothing is said. A start reads the verdicts of the last day again.

    Exit codes: 0 stopped; 2 wrong settings or topics, or brokers that cannot be reached.
    """
    from service.logs import set_up_logs
    from service.spikes.stage import spikes as run

    settings = load_settings(SpikesSettings, **options)
    set_up_logs(settings.log_level)

    def started(address: str | None) -> None:
        topics = settings.topics
        where = f", metrics at {address}/metrics" if address else ""
        click.echo(f"watching {topics.turn_verdicts} for spikes, into {topics.topic_spikes}{where}", err=True)

    with until_stopped() as stopping:
        figures = run(settings, from_beginning=from_beginning, stopping=stopping, started=started)
    click.echo(str(figures), err=True)
