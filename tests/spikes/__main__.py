"""Print how often the two rules for spikes cry wolf, and how soon they see one (make spikes)."""

import argparse
import math
import time
from random import Random

from rich.console import Console
from rich.table import Table

from spikes.simulation import LONGEST, RULES, Caught, Setting, catching, false_alarms

SETTINGS = tuple(Setting(replies, rate) for replies in (20, 200, 2_000) for rate in (0.002, 0.01))
FACTORS = (3, 5, 20)


def main() -> None:
    """Run every setting and print a row for each rule."""
    parser = argparse.ArgumentParser(prog="make spikes", description=__doc__)
    parser.add_argument("--days", type=int, default=30, help="days without a spike, for each of the topics")
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--trials", type=int, default=100, help="spikes of each size")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began_s = time.monotonic()
    table = Table(
        title=f"{options.topics} topics, {options.days} days; {options.trials} spikes a size; seed {options.seed}",
        caption=f"seen: share of spikes seen within {LONGEST} minutes, and the minutes to the middle one",
    )
    columns = ("replies a minute", "hit rate", "sessions an hour", "rule", "false a topic-month")
    for name in (*columns, *(f"×{factor} seen" for factor in FACTORS)):
        table.add_column(name, justify="left" if name == "rule" else "right")
    for setting in SETTINGS:
        false = false_alarms(Random(f"{options.seed} {setting}"), setting, options.topics, options.days)
        seen = [
            catching(Random(f"{options.seed} {setting} {factor}"), setting, options.topics, factor, options.trials)
            for factor in FACTORS
        ]
        for rule in RULES:
            table.add_row(
                f"{setting.replies:,}",
                f"{setting.hit_rate:.1%}",
                f"{setting.sessions_an_hour:,.1f}",
                rule,
                f"{false[rule]:.2f}",
                *(_shown(each[rule]) for each in seen),
            )
    console = Console(width=110)
    console.print(table)
    console.print(f"{time.monotonic() - began_s:.0f} s")


def _shown(caught: Caught) -> str:
    return (
        f"{caught.share:.0%}"
        if math.isnan(caught.median_minutes)
        else f"{caught.share:.0%} {caught.median_minutes:.1f}"
    )


main()
