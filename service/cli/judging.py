"""`turnjudge judge` and `turnjudge verify`: whole files."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import click
import orjson

from rules.verify import ITEMS
from schemas.turn import Turn
from service.cli.inputs import is_same, refuse_same
from service.cli.narrating import wanted_model, write_summaries
from service.cli.options import CAPS, PROFILE_FILE, Option, format_option, gathered, order_option, profile_option
from service.cli.progress import Progress
from service.decode import Caps
from service.errors import OperatorError
from service.files.judging import Judge, Judging, Order, Tally, judge_file
from service.files.readers import STDIN, Refused, opened, shown, turn_file
from service.files.reference import Reference, Sources, read_reference
from service.files.sharing import shared
from service.files.verifying import Checked, Failed, Finding, verify_file
from service.files.writing import written

_MAX_JOBS: Final = 64
_OPTIONS: Final[tuple[Option, ...]] = (
    click.option("--cards", required=True, metavar="FILE", help="Cards, JSONL or CSV."),
    click.option("--lexicon", required=True, metavar="FILE", help="Topic lexicon, JSONL or CSV."),
    order_option(
        "Which turns of a session are earlier: by turn_id over the whole file, in two passes (id), or only those "
        "further up as well, in one pass, as the worker sees them (arrival)."
    ),
    profile_option(
        "--profile",
        "How turns are read, where the card does not say it: to the letter (seed), or as readers do (extended).",
    ),
    PROFILE_FILE,
    *CAPS,
)


class Against(NamedTuple):
    """What turns are held against: the options that judge, verify and explain share."""

    cards: str
    lexicon: str
    order: Order
    profile: str
    profile_file: Path | None
    caps: Caps

    def read(self) -> Reference:
        """Read cards and lexicon."""
        return read_reference(self.cards, self.lexicon, self.profile, self.caps, profile_file=self.profile_file)


def _against(
    cards: str,
    lexicon: str,
    order: str,
    profile: str,
    profile_file: Path | None,
    max_record_bytes: int,
    max_names: int,
) -> Against:
    return Against(cards, lexicon, Order(order), profile, profile_file, Caps(max_record_bytes, max_names))


# Gives a command the shared options, as one argument `against`.
with_against: Final = gathered("against", _OPTIONS, _against)


@click.command()
@click.argument("turns")
@with_against
@click.option("--out", metavar="FILE", help="Where the verdicts go; without it, stdout.")
@click.option("--rejects", metavar="FILE", help="Where rows without a verdict go, as JSONL; without it, stderr.")
@click.option(
    "--summaries",
    metavar="FILE",
    help="Where summaries of the verdicts in --out go, as JSONL in their order; the model of TURNJUDGE_LLM_URL is "
    "asked for each, and where it gives none that may be taken the rule's sentence stands.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1, max=_MAX_JOBS),
    default=1,
    show_default=True,
    help="Processes that judge; each takes whole sessions, and the output is the same to the byte.",
)
def judge(turns: str, against: Against, out: str | None, rejects: str | None, summaries: str | None, jobs: int) -> None:
    """Judge TURNS, a file of chat turns (JSONL, or CSV by its name; - is JSONL from stdin).

    Writes one verdict a line, in the order of the turns, and nothing else. A row that is refused, or whose character
    has no card, is reported as file:line: reason: field: expectation; the rest is judged, and the exit code is 1.
    """
    refuse_same(turns, against.cards, against.lexicon)
    if is_same(out or STDIN, rejects):
        raise OperatorError("--out and --rejects: expected two files")
    model = None if summaries is None else wanted_model(summaries, out, rejects)
    tally = _judge(turns, against, out, rejects, jobs)
    if rejects is not None or sys.stderr.isatty():
        click.echo(_summary(tally), err=True)
    if model is not None:
        write_summaries(model, str(out), str(summaries))
    if tally.refused:
        click.get_current_context().exit(1)


def _judge(turns: str, against: Against, out: str | None, rejects: str | None, jobs: int) -> Tally:
    reference = against.read()
    with ExitStack() as stack:
        source = stack.enter_context(turn_file(turns, against.caps, again=against.order is Order.ID))
        reject = _say_reject if rejects is None else _reject_into(stack.enter_context(written(rejects)))
        result = stack.enter_context(written(out))
        judging = stack.enter_context(_judging(reference.sources, against, jobs))
        for refused in reference.refused:
            reject(refused, None)
        # What is loaded stays for the whole run, so the collector need not walk it again and again.
        gc.freeze()
        tally = judge_file(source, judging, against.order, result.write, reject, Progress().track)
    tally.refused.update(refused.refusal.reason for refused in reference.refused)
    return tally


@contextmanager
def _judging(sources: Sources, against: Against, jobs: int) -> Iterator[Judging]:
    if jobs == 1:
        yield Judge(sources.snapshot(), against.caps, against.order)
    else:
        with shared(sources, against.caps, against.order, jobs) as judging:
            yield judging


def _say_reject(refused: Refused, turn: Turn | None) -> None:
    click.echo(str(refused), err=True)


def _reject_into(file: BinaryIO) -> Callable[[Refused, Turn | None], None]:
    def reject(refused: Refused, turn: Turn | None) -> None:
        file.write(orjson.dumps(_located(refused) | _named(turn), option=orjson.OPT_APPEND_NEWLINE))

    return reject


def _located(refused: Refused) -> dict[str, Any]:
    reason, detail = refused.refusal
    return {"file": refused.file, "line": refused.line, "reason": reason.value, "detail": detail}


def _named(turn: Turn | None) -> dict[str, Any]:
    return {} if turn is None else {"turn_id": turn.turn_id, "session_id": turn.session_id}


def _summary(tally: Tally) -> str:
    judged = f"{tally.judged:,} judged"
    if not tally.refused:
        return judged
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in tally.refused.most_common())
    return f"{judged}, {tally.refused.total():,} rows without a verdict ({reasons})"


@click.command()
@click.argument("verdicts")
@click.option("--turns", required=True, metavar="FILE", help="The turns that were judged, JSONL or CSV.")
@with_against
@format_option("table", "jsonl")
def verify(verdicts: str, turns: str, against: Against, form: str) -> None:
    """Check VERDICTS, a file of verdicts as judge writes it, against the turns they were given for, by the ten items.

    A verdict belongs to the turn with its turn_id, session_id, character_id and model_id. Every miss is named as
    file:line: item, field and expectation. The exit code is 1 when a verdict misses an item or a line is no verdict.
    """
    refuse_same(verdicts, turns, against.cards, against.lexicon)
    reference = against.read()
    report = _say_finding if form == "table" else _print_finding
    for refused in reference.refused:
        report(shown(verdicts), refused)
    with opened(verdicts, again=False) as file, turn_file(turns, against.caps) as source:
        checked = verify_file(
            (shown(verdicts), file),
            source,
            reference.sources.snapshot(),
            against.caps,
            against.order,
            lambda finding: report(shown(verdicts), finding),
            Progress().track,
        )
    (_say_checked if form == "table" else _print_checked)(checked)
    if not checked.is_good:
        click.get_current_context().exit(1)


def _say_finding(verdicts: str, finding: Finding) -> None:
    if isinstance(finding, Failed):
        item = finding.item
        click.echo(f"{verdicts}:{finding.line}: item {item} ({ITEMS[item - 1]}): {finding.miss}")
    elif isinstance(finding, Refused):
        click.echo(str(finding), err=True)
    else:
        click.echo(f"{finding.file}:{finding.line}: no verdict for this turn", err=True)


def _print_finding(verdicts: str, finding: Finding) -> None:
    if isinstance(finding, Failed):
        row = {"kind": "failed", "file": verdicts, "line": finding.line, "item": finding.item}
        _print(row | {"name": ITEMS[finding.item - 1], "field": finding.miss.field, "expected": finding.miss.expected})
    elif isinstance(finding, Refused):
        _print({"kind": "refused"} | _located(finding))
    else:
        _print({"kind": "no_verdict", "file": finding.file, "line": finding.line})


def _print_checked(checked: Checked) -> None:
    for item, name in enumerate(ITEMS, start=1):
        passed, failed = checked.passed[item - 1], checked.failed[item - 1]
        _print({"kind": "item", "item": item, "name": name, "passed": passed, "failed": failed})
    _print({"kind": "total"} | checked.totals())


def _print(row: dict[str, Any]) -> None:
    click.echo(orjson.dumps(row).decode())


def _say_checked(checked: Checked) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("item", "looks at", title="turnjudge verify", title_justify="left")
    table.add_column("passed", justify="right")
    table.add_column("failed", justify="right")
    for item, name in enumerate(ITEMS, start=1):
        failed = checked.failed[item - 1]
        table.add_row(str(item), name, f"{checked.passed[item - 1]:,}", f"{failed:,}", style="red" if failed else None)
    Console().print(table)
    click.echo(", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in checked.totals().items()))
