"""`turnjudge evaluate`, `compare-models` and `what-if`: reports on files, for people and for pipelines."""

from pathlib import Path

import click

from rules.profile import PROFILE_NAMES
from service.cli.options import profile_option
from service.cli.reporting import reports
from service.cli.sources import (
    VERDICTS,
    Sources,
    both_sides_of,
    earlier_verdicts,
    file_facts,
    judged_rows,
    marked_turns,
    with_sources,
)
from service.errors import OperatorError
from service.evaluate.report.value import Fact, Report
from service.files.readers import shown


@click.command()
@click.argument("gold")
@with_sources
@VERDICTS
@profile_option("--profile", "Which endings and marks decide.")
@click.option("--baseline", metavar="FILE", help="Verdicts of an earlier run, to say what was fixed and what broke.")
@click.option("--min-agreement", type=click.FloatRange(0, 1), help="Exit 1 when a smaller share agrees, as in 0.9.")
@click.option("--min-turns", type=click.IntRange(min=1), help="Exit 1 when fewer turns could be compared.")
@click.option("--fail-on", type=click.Choice(["regressions"]), help="Exit 1 when a turn agreed in --baseline only.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option(
    "--resamples", type=click.IntRange(100, 1_000_000), default=9999, show_default=True, help="Draws of the bootstrap."
)
@reports
def evaluate(
    gold: str,
    sources: Sources,
    verdicts: str | None,
    profile: str,
    baseline: str | None,
    min_agreement: float | None,
    min_turns: int | None,
    fail_on: str | None,
    seed: int,
    resamples: int,
) -> Report:
    """Say how far the judge agrees with GOLD: turns that people read and marked with one of the five words.

    GOLD is JSONL or CSV with turn_id and verdict, and where you like session_id, marker and note. It is held against
    the verdicts of --verdicts, or of judging --turns with --cards and --lexicon. A row with a word that is none of the
    five refuses the run (exit 2); a gold turn without a verdict to compare is an ERROR (exit 3).
    """
    from service.evaluate.evaluating import Bars, Evaluation
    from service.evaluate.evaluating import evaluate as evaluated
    from service.evaluate.statistics import Resampling

    sources.refuse_same(gold, verdicts, baseline)
    if fail_on and baseline is None:
        raise OperatorError("--fail-on regressions: expected --baseline")
    marked = marked_turns(gold, sources.caps)
    before = None
    if baseline is not None:
        earlier = earlier_verdicts(baseline, sources.caps)
        before = {identity: str(judged.word) for identity, judged in earlier.items()}
    with judged_rows(sources, verdicts, profile) as (rows, settings, refused):
        files = file_facts(("gold", "정답", gold), ("baseline", "지난 판정", baseline))
        drawn = (Fact("seed", "부트스트랩 seed", seed), Fact("resamples", "부트스트랩 횟수", resamples))
        bars = Bars(min_agreement, min_turns, fail_on is not None)
        run = Evaluation(marked, rows, before, bars, Resampling(resamples, seed), (*files, *settings, *drawn), refused)
        return evaluated(run)


@click.command()
@with_sources
@profile_option("--profile", "Which endings and marks decide.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="A model to compare; without it all of them.")
@click.option("--max-mismatch", type=click.FloatRange(0, 1), help="Exit 1 when a model mismatches more, as in 0.1.")
@click.option(
    "--candidate", metavar="MODEL", help="Exit 1 when this model is worse than another, by McNemar with Holm."
)
@reports
def compare_models(
    sources: Sources, profile: str, models: tuple[str, ...], max_mismatch: float | None, candidate: str | None
) -> Report:
    """Compare models on the prompts that all of them answered.

    Answers belong together by prompt_id, or where a turn has none by the user's message, for one character; of several
    answers by one model the first in natural order of turn_id counts. Shares come with Wilson intervals, differences
    with Cochran's Q and exact McNemar tests, corrected by Holm.
    """
    from service.evaluate.comparing import Comparison, compare
    from service.evaluate.prompts import paired
    from service.evaluate.report.showing import one_line

    turns, _, _ = sources.wanted()
    sources.refuse_same()
    with judged_rows(sources, None, profile) as (rows, settings, refused):
        pairing = paired(rows, models)
    # Names of the turns, which may hold what a terminal obeys.
    compared, seen = (", ".join(map(one_line, names)) for names in (pairing.models, sorted(pairing.seen)))
    if len(pairing.models) < 2:
        raise OperatorError(f"expected turns of at least two models, found {compared or 'none'}")
    for name in (*models, *([candidate] if candidate else [])):
        if name not in pairing.seen:
            raise OperatorError(f"no turn is by the model {name}; there are {seen}")
    if candidate and candidate not in pairing.models:
        raise OperatorError(f"--candidate: expected one of the models compared, {compared}")
    return compare(Comparison(pairing, shown(turns), max_mismatch, candidate, settings, refused))


@click.command()
@with_sources
@VERDICTS
@profile_option("--base-profile", "The profile before the change.")
@click.option(
    "--changed-card",
    "cards_changed",
    multiple=True,
    metavar="FILE",
    help="Cards that stand for those of the same character.",
)
@click.option("--changed-lexicon", metavar="FILE", help="A lexicon that stands for --lexicon.")
@click.option("--add-ending", "endings", multiple=True, metavar="ENDING", help="A further polite ending, as in 습니까.")
@click.option("--profile", "changed_profile", type=click.Choice(PROFILE_NAMES), help="The profile after the change.")
@click.option(
    "--changed-profile-file",
    "changed_words",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Words of your own after the change, instead of those of --profile-file.",
)
@click.option("--baseline", metavar="FILE", help="Verdicts of an earlier run, as the side before the change.")
@click.option("--gold", metavar="FILE", help="Turns that people marked: what is fixed and broken is told by them.")
@click.option(
    "--fail-on", type=click.Choice(["broken", "any"]), help="Exit 1 when a verdict got worse, or flips at all."
)
@reports
def what_if(
    sources: Sources,
    verdicts: str | None,
    profile: str,
    cards_changed: tuple[str, ...],
    changed_lexicon: str | None,
    endings: tuple[str, ...],
    changed_profile: str | None,
    changed_words: Path | None,
    baseline: str | None,
    gold: str | None,
    fail_on: str | None,
) -> Report:
    """Show which verdicts flip when cards, lexicon, endings or profile change, before anyone publishes the change.

    Judges --turns twice, as they are and with the changes; or holds --verdicts, or what judging --turns gives now,
    against the verdicts of --baseline. With --gold a flip is fixed or broken by what people said, without it by
    whether the verdict is 설정대로 말함.
    """
    from service.evaluate.changing import Change
    from service.evaluate.changing import what_if as changed
    from service.evaluate.sides import Changes

    sources.refuse_same(verdicts, baseline, gold, changed_lexicon, *cards_changed)
    changes = Changes(cards_changed, changed_lexicon, endings, changed_profile, changed_words)
    if baseline is None and not changes.said():
        raise OperatorError(
            "expected a change (--changed-card, --changed-lexicon, --add-ending, --profile, --changed-profile-file) "
            "or --baseline"
        )
    if verdicts is not None and (baseline is None or changes.said()):
        raise OperatorError("--verdicts: expected --baseline with it, and no change")
    marked = marked_turns(gold, sources.caps) if gold is not None else None
    with both_sides_of(sources, verdicts, profile, changes, baseline) as (rows, settings, refused):
        name = shown(verdicts or sources.turns or "")
        said = changes.said() or (f"판정 파일 {shown(baseline or '')}에서 {name}로",)
        files = file_facts(("gold", "정답", gold), ("baseline", "지난 판정", baseline))
        return changed(Change(rows, said, name, marked, fail_on, (*files, *settings), refused))
