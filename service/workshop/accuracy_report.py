"""Write what was measured as text: the notes' table, as far as the sets go, and what it lacks."""

from collections.abc import Iterator, Sequence
from typing import Any

from rules.profile import SEED
from service.workshop.accuracy import LACKS, Measured
from service.workshop.accuracy_measures import Binary, Share
from service.workshop.accuracy_sets import Half
from service.workshop.accuracy_speech import ANSWERS, JOINED, PLAIN, POLITE, Speech
from service.workshop.accuracy_terms import Terms


def in_words(measured: Measured) -> Iterator[str]:
    """Yield the lines of the report."""
    sets = measured.sets
    yield f"half: {sets.half} (sha1 of the text: an odd first byte is the test half); seed of draws: {measured.seed}"
    yield "shares stand as: share [Wilson interval of 95 %] (count of whole)"
    for name, speech in measured.speech.items():
        yield from ("", f"SPEECH, {name}")
        yield from _speech(speech)
    if measured.speech:
        yield from ("", "STRESSES: rows still heard right, polite (존댓말) and plain (neither 존댓말 nor 섞임)")
        yield from _stresses(measured.speech)
    if measured.terms is not None:
        yield from ("", "TERMS: lines met in clean chat, in abusive comments, in comments marked as not abusive")
        yield from _terms(measured.terms)
    if sets.half is Half.TEST and measured.bars:
        yield from ("", "BARS of the extended profile on the test half")
        for bar in measured.bars:
            yield f"  {'holds ' if bar.holds else 'MISSED'} {bar.what}: {bar.figure:.4f} ({bar.bar})"
    yield from ("", "NOT COMPUTED HERE")
    for name in sets.missing:
        yield f"  what needs {name}: not in the folder"
    for lack in LACKS:
        yield f"  {lack.row}: needs {lack.needs}"


def _speech(speech: Speech) -> Iterator[str]:
    labels = list(dict.fromkeys(label for label, _ in speech.confusion))
    yield "  " + "".join(f"{cell:>10}" for cell in ("label", *ANSWERS))
    for label in labels:
        counts = [speech.confusion[label, answer] for answer in ANSWERS]
        yield "  " + "".join(f"{cell:>10}" for cell in (label, *(f"{count:,}" for count in counts)))
    yield from _binary("polite or plain (섞임 taken as polite)", speech.level)
    yield from _binary("하오체 among all rows", speech.old)
    yield from _binary(f"섞임 of {JOINED:,} joined replies, beside the whole rows", speech.joined)
    for label in (POLITE, PLAIN):
        yield f"  false 섞임 among {label}: {speech.false_mixed[label]}"
        yield f"  left open among {label}: {speech.unclear[label]}"
    for source, share in sorted(speech.by_source.items()):
        yield f"  right in {source}: {share}"


def _binary(what: str, measured: Binary) -> Iterator[str]:
    yield f"  {what}: F1 {measured.f1:.4f}"
    yield f"    precision {measured.precision}"
    yield f"    recall {measured.recall}"


def _stresses(speech: dict[str, Speech]) -> Iterator[str]:
    names = list(speech)
    heads = [f"{name}, {level}" for level in ("polite", "plain") for name in names]
    yield f"  {'':28}" + "".join(f"{head:>18}" for head in heads)
    for rows in zip(*(each.stressed for each in speech.values()), strict=True):
        shares = [row.polite for row in rows] + [row.plain for row in rows]
        yield f"  {rows[0].name:28}" + "".join(f"{_short(share):>18}" for share in shares)


def _short(share: Share | None) -> str:
    return "-" if share is None else f"{share.value:.4f} of {share.whole:,}"


def _terms(terms: Terms) -> Iterator[str]:
    for met in terms.met:
        written = met.written
        contexts = ", with contexts" if written.with_contexts else ""
        yield f"  {written.profile}: {written.modes}{contexts}"
        yield f"    clean {met.clean}"
        yield f"    abusive {met.abusive}"
        yield f"    not abusive {met.civil}"
    yield "  terms of the half found when hidden (mode any): seed, extended"
    for evasion in terms.evasions:
        yield f"    {evasion.spelling:28}{_short(evasion.seed):>16}{_short(evasion.extended):>16}"
    yield "  innocent contexts of the half that hold a term, flagged under extended"
    for name, share in terms.contexts:
        yield f"    {name}: {share}"


def in_columns(measured: Measured) -> dict[str, Any]:
    """Return the figures as one JSON record."""
    return {
        "half": measured.sets.half.value,
        "seed": measured.seed,
        "speech": {name: _speech_columns(speech) for name, speech in measured.speech.items()},
        "terms": None if measured.terms is None else _terms_columns(measured.terms),
        "bars": [bar._asdict() for bar in measured.bars] if measured.sets.half is Half.TEST else [],
        "missing": measured.sets.missing,
        "lacks": [lack._asdict() for lack in LACKS],
    }


def _speech_columns(speech: Speech) -> dict[str, Any]:
    labels = dict.fromkeys(label for label, _ in speech.confusion)
    return {
        "confusion": {label: {answer: speech.confusion[label, answer] for answer in ANSWERS} for label in labels},
        "level": _binary_columns(speech.level),
        "old": _binary_columns(speech.old),
        "joined": _binary_columns(speech.joined),
        "false_mixed": {label: _share_columns(share) for label, share in speech.false_mixed.items()},
        "left_open": {label: _share_columns(share) for label, share in speech.unclear.items()},
        "right_by_source": {source: _share_columns(share) for source, share in speech.by_source.items()},
        "stresses": {
            row.name: {"polite": _share_columns(row.polite), "plain": _share_columns(row.plain)}
            for row in speech.stressed
        },
    }


def _terms_columns(terms: Terms) -> dict[str, Any]:
    return {
        "met": [
            met.written._asdict() | {name: _share_columns(getattr(met, name)) for name in ("clean", "abusive", "civil")}
            for met in terms.met
        ],
        "hidden": {
            each.spelling: {SEED.name: _share_columns(each.seed), "extended": _share_columns(each.extended)}
            for each in terms.evasions
        },
        "contexts": {name: _share_columns(share) for name, share in terms.contexts},
    }


def _binary_columns(measured: Binary) -> dict[str, Any]:
    return {
        "f1": measured.f1,
        "precision": _share_columns(measured.precision),
        "recall": _share_columns(measured.recall),
    }


def _share_columns(share: Share | None) -> dict[str, Any] | None:
    if share is None:
        return None
    return {"share": share.value, "interval": share.interval(), "count": share.part, "of": share.whole}


def errors_in_lines(errors: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the single cases behind the figures, those of a part together."""
    yield from sorted(errors, key=lambda error: (error["profile"], error["part"]))
