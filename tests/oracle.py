"""Judge a whole file of turns by a plain second reading of the design.

Imports the standard library only and shares no code with the product. Follows design sections 2, 3,
4 and 12 (profile `seed`) step by step; of the hedge it gives the codes, and it writes no summary.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

Row = dict[str, Any]
Runs = list[tuple[int, int, str]]

FORBIDDEN = "금지 소재 접촉"
OFF_CANON = "세계관 밖 고유명사"
SPEECH = "말투 어긋남"
FORGOTTEN = "앞 회차를 기억 못 함"
KEPT = "설정대로 말함"
VERDICTS = (FORBIDDEN, OFF_CANON, SPEECH, FORGOTTEN, KEPT)
MARKS = ".?!．？！。"
SYLLABLE = "[\uac00-\ud7a3]"
POLITE_ENDINGS = ("요", "죠", "니다", "십시오")
FINAL_BIEUP = 17


class Line(NamedTuple):
    """One turn in its place: natural order of turn_id first, then the line number."""

    key: tuple[Runs, str]
    number: int
    turn: Row


def judge_file(turns: Iterable[Row], cards: Iterable[Row], lexicon: Iterable[Row], order: str) -> list[Row]:
    """Judge every turn; `order` is "id" or "arrival" (else ValueError; design section 12).

    Answers one dict a turn, in the turns' order: thirteen keys of the verdict (no `summary`, no
    `hedge`) and `codes`, or `{"rejected": "unknown_character"}`. A character's last card stands.
    """
    if order not in ("id", "arrival"):
        raise ValueError("order must be id or arrival")
    by_character = {card["character_id"]: card for card in cards}
    terms = sorted_lexicon(lexicon)
    lines = [Line(natural_key(turn["turn_id"]), n, turn) for n, turn in enumerate(turns)]
    sessions: dict[str, list[Line]] = {}
    for line in lines:
        sessions.setdefault(line.turn["session_id"], []).append(line)
    answers: list[Row] = []
    for line in lines:
        card = by_character.get(line.turn["character_id"])
        if card is None:
            answers.append({"rejected": "unknown_character"})
            continue
        asked = line.turn.get("user_asked_recall") is True
        others = sessions[line.turn["session_id"]] if asked else []
        earlier = [other for other in others if other.key < line.key]
        if order == "arrival":
            earlier = [other for other in earlier if other.number < line.number]
        answers.append(judge_turn(line.turn, card, terms, earlier))
    return answers


def judge_turn(turn: Row, card: Row, terms: list[Row], earlier: list[Line]) -> Row:
    """Judge one turn against its card, the ordered lexicon and the earlier turns of its session."""
    level = level_of(turn.get("reply_text"))
    off_canon = off_canon_names(turn, card)
    touched = touched_row(turn, card, terms)
    topic = None if touched is None else forbidden_topic(touched, card)
    lapse = lapse_of(turn, card, earlier)
    differs = speech_differs(turn, card, level)
    holds = (topic is not None, bool(off_canon), differs, lapse is not None, True)
    verdict = VERDICTS[holds.index(True)]
    return {
        **{key: turn[key] for key in ("turn_id", "session_id", "character_id", "model_id")},
        "verdict": verdict,
        "rule_expected": joined(card["honorific_rule"], card.get("first_person")),
        "rule_observed": None if level is None else joined(level, turn.get("first_person")),
        "off_canon_entities": off_canon,
        "touched_term": None if touched is None else touched["term"],
        "touched_topic": None if touched is None or topic is None else touched["topic"],
        "recall_target": None if lapse is None else lapse[0]["entity"],
        "recall_source_turn": None if lapse is None else lapse[1]["turn_id"],
        "evidence": evidence_of(verdict, turn, card, touched, lapse),
        "codes": codes_of(turn, card, level) + recall_codes(turn, card, earlier),
    }


def nfc(text: str) -> str:
    """Compose a text; all comparisons of text are made on this form."""
    return unicodedata.normalize("NFC", text)


def is_blank(text: str | None) -> bool:
    """Tell whether a text counts as null."""
    return text is None or not text.strip()


def natural_key(turn_id: str) -> tuple[Runs, str]:
    """Give a turn_id's place in natural order, digits by value of any length (section 3.5)."""
    runs: Runs = []
    for run in re.findall(r"[0-9]+|[^0-9]+", turn_id):
        digits = run.lstrip("0")
        runs.append((0, len(digits), digits) if run[0] in "0123456789" else (1, 0, run))
    return runs, turn_id


def sorted_lexicon(lexicon: Iterable[Row]) -> list[Row]:
    """Order lexicon rows by position (else row number), then term, then topic, on NFC."""
    rows = [row | {"position": n if row.get("position") is None else row["position"]} for n, row in enumerate(lexicon)]
    return sorted(rows, key=lambda row: (row["position"], nfc(row["term"]), nfc(row["topic"])))


def last_words(reply: str | None) -> list[str]:
    """Give the last word of every piece of a reply that counts (section 3.1)."""
    words: list[str] = []
    for piece in re.split(f"[{MARKS}]", nfc(reply or "")):
        tokens = [token for token in piece.split() if re.search(SYLLABLE, token)]
        if tokens:
            words += re.findall(f".*{SYLLABLE}", tokens[-1])
    return words


def level_of(reply: str | None) -> str | None:
    """Take the speech level of a reply, or None when it cannot be taken."""
    words = last_words(reply)
    if not words:
        return None
    return "존댓말" if any(word.endswith(POLITE_ENDINGS) for word in words) else "반말"


def is_honorific_form(word: str) -> bool:
    """Tell whether a last word is an honorific form that the four endings lack (section 4)."""
    if word.endswith(("니까", "시다")):
        before = re.findall(f"({SYLLABLE})..$", word)
        return bool(before) and (ord(before[0]) - 0xAC00) % 28 == FINAL_BIEUP
    return word.endswith(("십쇼", "네여"))


def joined(level: str, first_person: str | None) -> str:
    """Write a level and a first person as one value; a null first person goes with its dot."""
    return level if is_blank(first_person) else f"{level} · {first_person}"


def both_first_persons(turn: Row, card: Row) -> bool:
    """Tell whether both sides have a first person to compare."""
    return not is_blank(turn.get("first_person")) and not is_blank(card.get("first_person"))


def speech_differs(turn: Row, card: Row, level: str | None) -> bool:
    """Tell whether level or first person is not the card's (section 3.2)."""
    if level is None or level != card["honorific_rule"]:
        return level is not None
    return both_first_persons(turn, card) and nfc(turn["first_person"]) != nfc(card["first_person"])


def off_canon_names(turn: Row, card: Row) -> list[str] | None:
    """List the names that are not canon, each once, as first written (section 3.3)."""
    if turn.get("named_entities") is None:
        return None
    canon = {nfc(name) for name in card["canon_entities"]}
    found: dict[str, str] = {}
    for name in turn["named_entities"]:
        if not is_blank(name) and nfc(name) not in canon:
            found.setdefault(nfc(name), name)
    return list(found.values())


def forbidden_topic(row: Row, card: Row) -> str | None:
    """Give the card's own spelling of a lexicon row's topic, or None when it is not forbidden."""
    return next((t for t in card["forbidden_topics"] if nfc(t) == nfc(row["topic"])), None)


def touched_row(turn: Row, card: Row, terms: list[Row]) -> Row | None:
    """Find the first forbidden row the reply holds, else the first row (section 3.4)."""
    reply = nfc(turn.get("reply_text") or "")
    hits = [row for row in terms if nfc(row["term"]) in reply]
    forbidden = [row for row in hits if forbidden_topic(row, card) is not None]
    return next(iter(forbidden + hits), None)


def asked_rows(turn: Row, card: Row) -> list[Row]:
    """List the rows of `entity_roles` whose role stands in the user's message."""
    message = nfc(turn["user_message"])
    return [row for row in card["entity_roles"] if nfc(row["role"]) in message]


def first_naming(entity: str, earlier: list[Line]) -> Row | None:
    """Find the earliest turn that named an entity; of equal turn_ids the smaller line."""
    named = [(line, map(nfc, line.turn.get("named_entities") or ())) for line in earlier]
    naming = [line for line, names in named if nfc(entity) in names]
    return min(naming).turn if naming else None


def lapse_of(turn: Row, card: Row, earlier: list[Line]) -> tuple[Row, Row] | None:
    """Find the first forgotten row of `entity_roles` and the turn that named it (section 3.5)."""
    texts = (turn.get("user_message"), turn.get("reply_text"))
    if turn.get("user_asked_recall") is not True or None in texts:
        return None
    for row in asked_rows(turn, card):
        source = first_naming(row["entity"], earlier)
        if source is not None and nfc(row["entity"]) not in nfc(turn["reply_text"]):
            return row, source
    return None


def evidence_of(verdict: str, turn: Row, card: Row, touched: Row | None, lapse: tuple[Row, Row] | None) -> list[Row]:
    """Quote, to the letter, the cells that show a verdict (the table of design section 4)."""
    reply = ("chat_turn", "reply_text", turn.get("reply_text"))
    if verdict == FORBIDDEN and touched is not None:
        cells = [
            reply,
            ("topic_lexicon", "term", touched["term"]),
            ("topic_lexicon", "topic", touched["topic"]),
            ("character_card", "forbidden_topics", forbidden_topic(touched, card)),
        ]
    elif verdict == OFF_CANON:
        canon = [("character_card", "canon_entities", name) for name in card["canon_entities"]]
        cells = [reply, *canon[:1], ("chat_turn", "turn_id", turn["turn_id"])]
    elif verdict == FORGOTTEN and lapse is not None:
        asked, source = lapse
        entity = asked["entity"]
        names = [name for name in card["canon_entities"] if nfc(name) == nfc(entity)]
        where = ("canon_entities", names[0]) if names else ("entity_roles", entity)
        cells = [
            ("chat_turn", "user_asked_recall", True),
            ("chat_turn", "user_message", turn["user_message"]),
            ("character_card", "entity_roles", asked["role"]),
            ("character_card", *where),
            ("chat_turn", "turn_id", source["turn_id"]),
            ("chat_turn", "reply_text", source.get("reply_text")),
            reply,
        ]
    else:
        cells = speech_cells(verdict, turn, card)
    return [{"source": source, "field": field, "value": value} for source, field, value in cells]


def speech_cells(verdict: str, turn: Row, card: Row) -> list[tuple[str, str, Any]]:
    """List the cells that show how a turn speaks, whether it keeps the card or differs."""
    cells = [
        ("chat_turn", "reply_text", turn.get("reply_text")),
        ("character_card", "honorific_rule", card["honorific_rule"]),
        ("chat_turn", "first_person", turn.get("first_person")),
    ]
    names_null = turn.get("named_entities") is None
    compared = level_of(turn.get("reply_text")) is not None and both_first_persons(turn, card)
    if compared and not (verdict == KEPT and names_null):
        cells.append(("character_card", "first_person", card["first_person"]))
    if names_null:
        cells.append(("chat_turn", "named_entities", None))
    return cells


def codes_of(turn: Row, card: Row, level: str | None) -> list[str]:
    """List the codes that have nothing to do with recall, in order."""
    reply = turn.get("reply_text")
    words = last_words(reply)
    plain = [word for word in words if not word.endswith(POLITE_ENDINGS)]
    logged = turn.get("honorific_level")
    holds = {
        "names_null": turn.get("named_entities") is None,
        "no_reply": reply is None,
        "first_person_null": not both_first_persons(turn, card),
        "level_unknown": reply is not None and level is None,
        "level_differs": bool(level and not is_blank(logged) and nfc(logged or "") != level),
        "mixed_levels": 0 < len(plain) < len(words),
        "honorific_form": any(is_honorific_form(word) for word in plain),
        "no_canon": not card["canon_entities"],
    }
    return [code for code, held in holds.items() if held]


def recall_codes(turn: Row, card: Row, earlier: list[Line]) -> list[str]:
    """List the codes of a recall that could not be compared whole, in order."""
    if turn.get("user_asked_recall") is not True:
        return []
    if turn.get("user_message") is None:
        return ["recall_no_message"]
    if turn.get("reply_text") is None:
        return []
    asked = asked_rows(turn, card)
    codes = [] if asked else ["recall_no_role"]
    if any(first_naming(row["entity"], earlier) is None for row in asked):
        codes.append("recall_not_named")
    if roles_overlap([nfc(row["role"]) for row in asked], nfc(turn["user_message"])):
        codes.append("roles_overlap")
    return codes


def roles_overlap(roles: list[str], message: str) -> bool:
    """Tell whether two different roles stand in a message over a common character."""
    starts = [(i, r) for r in roles for i in range(len(message)) if message.startswith(r, i)]
    return any(
        one != other and i < j + len(other) and j < i + len(one)
        for (i, one), (j, other) in itertools.combinations(starts, 2)
    )
