import json
from pathlib import Path
from typing import Any

import pytest

from service.workshop.cards import lint_cards
from service.workshop.finding import Weight

Card = dict[str, Any]
FIX, LOOK = Weight.FIX, Weight.LOOK
BASE: Card = {
    "character_id": "C",
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["다온", "깡통"],
    "forbidden_topics": [],
    "entity_roles": [{"role": "동생", "entity": "다온"}],
}


def card(**changes: Any) -> Card:
    return BASE | changes


def roles(*pairs: str) -> list[dict[str, str]]:
    return [dict(zip(("role", "entity"), pair.split("="), strict=True)) for pair in pairs]


def written(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows), encoding="utf-8")
    return str(path)


CASES: dict[str, tuple[list[Card], list[tuple[int, str, Weight]]]] = {
    "nothing": ([], []),
    "clean": ([card()], []),
    "no object": ([3], [(1, "unreadable", FIX)]),  # type: ignore[list-item]
    "unknown rule": ([card(honorific_rule="반말체")], [(1, "shape", FIX)]),
    "a role without its entity": ([card(entity_roles=[{"role": "동생"}])], [(1, "shape", FIX)]),
    "a column missing": ([{"character_id": "C"}], [(1, "shape", FIX)] * 4),
    "one character twice": ([card(), card()], [(2, "duplicate_card", FIX)]),
    "the canary's name": ([card(character_id="turnjudge-canary")], [(1, "reserved_id", FIX)]),
    "an unknown profile": ([card(profile="extnded")], [(1, "unknown_profile", FIX)]),
    "a known profile": ([card(profile="extended")], []),
    "no canon": ([card(canon_entities=[], entity_roles=[])], [(1, "no_canon", LOOK)]),
    "canon padded": ([card(canon_entities=["다온", "깡통 "])], [(1, "canon_padded", FIX)]),
    "canon twice": ([card(canon_entities=["다온", "깡통", "깡통"])], [(1, "canon_twice", LOOK)]),
    "a common word": ([card(canon_entities=["다온", "하늘"])], [(1, "canon_common", LOOK)]),
    "a common word of our own table": ([card(canon_entities=["다온", "여울"])], [(1, "canon_common", LOOK)]),
    "one syllable": ([card(canon_entities=["다온", "윤"])], [(1, "canon_common", LOOK)]),
    "names inside one another": ([card(canon_entities=["다온", "최다온"])], [(1, "canon_nested", LOOK)]),
    "roles inside one another": (
        [card(entity_roles=roles("동생=다온", "여동생=깡통"))],
        [(1, "role_nested", LOOK)],
    ),
    "roles inside one another for one name": ([card(entity_roles=roles("동생=다온", "여동생=다온"))], []),
    "a role for two": ([card(entity_roles=roles("동생=다온", "동생=깡통"))], [(1, "role_twice", LOOK)]),
    "a role twice for one": ([card(entity_roles=roles("동생=다온", "동생=다온"))], []),
    "an entity that is not canon": ([card(entity_roles=roles("동생=다올"))], [(1, "role_not_canon", FIX)]),
    "an entity of two roles": (
        [card(entity_roles=roles("동생=다올", "친구=다올"))],
        [(1, "role_not_canon", FIX)],
    ),
    "polite, 나": ([card(honorific_rule="존댓말")], [(1, "first_person_odd", LOOK)]),
    "polite, 저": ([card(honorific_rule="존댓말", first_person="저")], []),
    "plain, 저": ([card(first_person="저")], [(1, "first_person_odd", LOOK)]),
    "plain, 소인": ([card(first_person="소인")], [(1, "first_person_odd", LOOK)]),
    "plain, 짐": ([card(first_person="짐")], []),
    "a name of one's own": ([card(honorific_rule="존댓말", first_person="모하")], []),
    "first person blank": ([card(first_person=" ")], []),
    "first person null": ([card(honorific_rule="존댓말", first_person=None)], []),
    "first person with its particle": ([card(first_person="나는")], [(1, "first_person_josa", FIX)]),
    "first person with its particle, at odds": (
        [card(first_person="제가")],
        [(1, "first_person_josa", FIX), (1, "first_person_odd", LOOK)],
    ),
    "forbidden, no lexicon asked": ([card(forbidden_topics=["도박"])], []),
}


@pytest.mark.parametrize(("cards", "expected"), CASES.values(), ids=CASES)
def test_findings(tmp_path: Path, cards: list[Card], expected: list[tuple[int, str, Weight]]) -> None:
    linted = lint_cards(written(tmp_path / "cards.jsonl", cards))
    assert [(finding.line, finding.code, finding.weight) for finding in linted.findings] == expected


TOPICS = {
    "there": (["도박"], []),
    "decomposed": (["\u1103\u1169\u1107\u1161\u11a8"], []),
    "absent": (["연애"], ["금지 소재 「연애」에 드는 낱말이 사전에 없어 걸리는 일이 없습니다. 낱말을 더하세요."]),
    "apart by a space": (
        ["현실정치"],
        [
            "금지 소재 「현실정치」에 드는 낱말이 사전에 없어 걸리는 일이 없습니다. 낱말을 더하세요. "
            "사전의 「현실 정치」와 같은 소재면 똑같이 적으세요."
        ],
    ),
    "twice": (
        ["연애", "연애"],
        ["금지 소재 「연애」에 드는 낱말이 사전에 없어 걸리는 일이 없습니다. 낱말을 더하세요."],
    ),
}


@pytest.mark.parametrize("position", [None, 2**63])
def test_a_topic_whose_only_row_is_refused_has_no_row(tmp_path: Path, position: int | None) -> None:
    terms = [{"term": "판돈", "topic": "도박", "position": position}, {"term": "선거", "topic": "정치", "position": 1}]
    lexicon = written(tmp_path / "lexicon.jsonl", terms)
    linted = lint_cards(written(tmp_path / "cards.jsonl", [card(forbidden_topics=["도박", "정치"])]), lexicon)
    assert [finding.code for finding in linted.findings] == ["forbidden_without_rows"]


@pytest.mark.parametrize(("forbidden", "messages"), TOPICS.values(), ids=TOPICS)
def test_forbidden_topics_have_rows(tmp_path: Path, forbidden: list[str], messages: list[str]) -> None:
    terms = [{"term": "판돈", "topic": "도박"}, {"term": "선거", "topic": "현실 정치"}, {"term": "", "topic": "연"}]
    lexicon = written(tmp_path / "lexicon.jsonl", terms)
    linted = lint_cards(written(tmp_path / "cards.jsonl", [card(forbidden_topics=forbidden)]), lexicon)
    assert [finding.message for finding in linted.findings] == messages


def test_a_near_canon_name_is_named(tmp_path: Path) -> None:
    row = card(entity_roles=roles("동생=다온이"))
    [finding] = lint_cards(written(tmp_path / "cards.jsonl", [row])).findings
    assert finding.message == (
        "관계어 「동생」의 이름 「다온이」가 canon_entities에 없습니다. 이대로면 이 이름을 말한 답장이 세계관 밖이 "
        "되니 canon_entities에 더하세요. canon_entities의 「다온」과 같은 이름이면 똑같이 적으세요."
    )


def test_a_sheet_of_cards(tmp_path: Path) -> None:
    path = tmp_path / "cards.csv"
    path.write_text(
        "character_id,honorific_rule,first_person,canon_entities,forbidden_topics,entity_roles\n"
        "C,반말,나,다온|깡통,,동생=다온\n"
        "D,반말,나,다온|깡통,[],동생=다온|친구=두루\n",
        encoding="utf-8",
    )
    assert [(finding.line, finding.code) for finding in lint_cards(str(path)).findings] == [
        (2, "shape"),
        (3, "role_not_canon"),
    ]
