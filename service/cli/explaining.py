"""`turnjudge explain`: how the verdict of one turn came about."""

from collections.abc import Iterator
from typing import Any, Final

import click
import orjson

from rules.working import State
from schemas.witness import Told, Way
from service.cli.inputs import refuse_same, say_refused
from service.cli.judging import Against, with_against
from service.cli.options import format_option
from service.cli.progress import Progress
from service.errors import OperatorError
from service.files.explaining import Line, Wanted, explain_turns
from service.files.readers import turn_file
from service.step import DeadLetter
from service.visible import visible
from service.working.explained import Explained
from service.working.shape import shape

_STATES: Final = {
    State.DECIDED: "이 판정",
    State.HELD_LATER: "해당하지만 차례가 뒤",
    State.NOTHING: "해당 없음",
    State.NOT_COMPARED: "견주지 않음",
}
_TOLD: Final = {
    Told.ENDING: "말끝",
    Told.INSIDE: "문장 안의 말끝",
    Told.ANSWER: "대답하는 말",
    Told.STRONG: "문장 안의 반말",
    Told.CRIED: "혼잣말",
    Told.HUMBLE: "낮춤말",
    Told.ADDRESS: "부르는 말",
    Told.JAMO: "자모",
}
_WAYS: Final = {
    Way.SPELLED: "다르게 적음",
    Way.SPACED: "띄어 적음",
    Way.TAIL: "조사나 높임말이 붙음",
    Way.SURNAME: "성이 붙거나 빠짐",
    Way.CLASS: "같은 뜻의 말",
    Way.KIND: "더 넓거나 좁은 말",
}
_TIERS: Final = {"hit": "", "review": "검토", None: "세지 않음"}
_UNMET: Final = {"except": "예외로 적은 문맥", "part": "다른 말의 한 부분"}


@click.command()
@click.argument("turns")
@click.option("--turn", "turn_id", required=True, metavar="TURN_ID", help="The turn to explain.")
@click.option("--session", metavar="SESSION_ID", help="Its session, where several have a turn of that id.")
@with_against
@format_option("text", "json")
def explain(turns: str, turn_id: str, session: str | None, against: Against, form: str) -> None:
    """Explain the verdict of a turn of TURNS (JSONL, or CSV by its name; - is JSONL from stdin).

    Says in Korean what each check looked at and met, with offsets in code points of the text as it came, which check
    decided, and why the others did not; json writes a turn a line. Where several turns have the id, all are explained.
    A turn that could not be judged says why, and the exit code is 1.
    """
    refuse_same(turns, against.cards, against.lexicon)
    reference = against.read()
    say_refused(reference.refused)
    show = _print if form == "json" else _say
    found = judged = 0
    with turn_file(turns, against.caps) as source:
        wanted, known = Wanted(turn_id, session), reference.sources.snapshot()
        for line in explain_turns(source, wanted, known, against.caps, against.order, Progress().track):
            found += 1
            judged += isinstance(line.answer, Explained)
            show(source.name, line)
        if not found:
            where = source.name if session is None else f"session {visible(session)} of {source.name}"
            raise OperatorError(f"--turn: expected a turn of {where}, got {visible(turn_id)}")
    if judged < found or reference.refused:
        click.get_current_context().exit(1)


def _print(file: str, line: Line) -> None:
    click.echo(orjson.dumps(_row(file, line)).decode())


def _row(file: str, line: Line) -> dict[str, Any]:
    """Return an explained turn as JSON has it.

    `file`, `line`, `turn_id`, `session_id`, then `profile`, `verdict` (the record with its fifteen keys) and `working`
    (`service.working.shape`); of a turn that could not be judged `reason` and `detail` instead of these three.
    """
    place = {"file": file, "line": line.line, "turn_id": line.turn.turn_id, "session_id": line.turn.session_id}
    if isinstance(line.answer, DeadLetter):
        return place | {"reason": line.answer.reason.value, "detail": line.answer.detail}
    _, verdict, profile, working = line.answer
    return place | {"profile": profile, "verdict": verdict, "working": shape(working)}


def _say(file: str, line: Line) -> None:
    turn = line.turn
    click.echo(visible(f"{turn.turn_id} · 세션 {turn.session_id} · 캐릭터 {turn.character_id} · {file}:{line.line}"))
    if isinstance(line.answer, DeadLetter):
        click.echo(visible(f"판정 못 함: {line.answer.reason}: {line.answer.detail}") + "\n")
        return
    for text in _lines(line.answer):
        click.echo(text)
    click.echo("")


def _lines(answer: Explained) -> Iterator[str]:
    """Yield what is said of a judged turn; every value of a record goes through `visible`."""
    record, working = answer.verdict, shape(answer.working)
    yield f"판정: {record['verdict']}"
    yield visible(f"  {record['summary']}")
    if record["hedge"] is not None:
        yield visible(f"  주의: {record['hedge']}")
    yield visible(f"기대: {record['rule_expected']}   관찰: {record['rule_observed'] or '뽑지 못함'}")
    yield "근거"
    for cell in record["evidence"]:
        yield visible(f"  {cell['source']}.{cell['field']}: {_value(cell['value'])}")
    yield f"과정 (프로필 {answer.profile}, 자리는 글자 수로 센 [처음-끝))"
    parts = (_terms, _names, _speech, _roles, _nothing)
    for number, (result, part) in enumerate(zip(working["results"], parts, strict=True), start=1):
        yield f"{number}. {result['verdict']} — {_STATES[result['state']]}"
        yield visible(f"   {result['because']}")
        for text in part(working, answer):
            yield visible(f"   - {text}")


def _value(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _terms(working: dict[str, Any], answer: Explained) -> Iterator[str]:
    for term in working["terms"] or ():
        topic = f"{term['topic']}, {'카드가 막음' if term['forbidden'] else '막지 않음'}"
        for place in term["places"]:
            notes = (_WAYS.get(place["way"], ""), _TIERS[place["tier"]], _UNMET.get(place["unmet"], ""))
            yield f"「{term['term']}」({topic}) 답장 {_place(place)}{_noted(*notes)}"


def _names(working: dict[str, Any], answer: Explained) -> Iterator[str]:
    for name in working["names"] or ():
        known = "카드에 없음" if name["canon"] is None else f"카드의 「{name['canon']}」"
        where = f"답장 {_placed(name['places'])}" if name["places"] else "답장에는 그대로 없음"
        yield f"「{name['name']}」 {known}{_noted(_WAYS.get(name['way'], ''))}, {where}"


def _speech(working: dict[str, Any], answer: Explained) -> Iterator[str]:
    reply = answer.turn.reply_text or ""
    for piece in working["speech"]["pieces"]:
        for word in piece["heard"]:
            yield f"「{_cut(reply, word)}」 {word['level']} ({_TOLD[word['told']]}), 답장 {_place(word)}"
        if not piece["heard"]:
            yield f"「{_cut(reply, piece['last'])}」 말투를 알려 주지 않음, 답장 {_place(piece['last'])}"


def _roles(working: dict[str, Any], answer: Explained) -> Iterator[str]:
    for role in working["roles"] or ():
        source = (
            "앞선 회차에 없음" if role["source_turn"] is None else f"앞선 회차 「{role['source_turn']}」에 처음 나옴"
        )
        said = f"답장 {_placed(role['said'])}" if role["said"] else "답장에 없음"
        asked = f"「{role['role']}」 메시지 {_placed(role['asked'])}{_noted(_WAYS.get(role['way'], ''))}"
        yield f"{asked} → 「{role['entity']}」 {source}, {said}{_noted('분명하지 않음' if role['unsure'] else '')}"


def _nothing(working: dict[str, Any], answer: Explained) -> Iterator[str]:
    yield from ()


def _cut(text: str, place: dict[str, int]) -> str:
    return text[place["start"] : place["end"]]


def _place(place: dict[str, int]) -> str:
    return f"{place['start']}-{place['end']}"


def _placed(places: list[dict[str, int]]) -> str:
    return ", ".join(map(_place, places))


def _noted(*notes: str) -> str:
    said = ", ".join(note for note in notes if note)
    return f" ({said})" if said else ""
