import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from service.workshop.finding import Weight
from service.workshop.terms import lint_lexicon

Row = dict[str, Any]
FIX, LOOK = Weight.FIX, Weight.LOOK


def row(term: Any, topic: Any = "소재", **more: Any) -> Row:
    return {"term": term, "topic": topic, **more}


def found(tmp_path: Path, *rows: Row | str) -> list[tuple[int, str, Weight]]:
    """By line: the codes and weights of a lexicon of these rows."""
    path = tmp_path / "lexicon.jsonl"
    lines = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in rows]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return [(finding.line, finding.code, finding.weight) for finding in lint_lexicon(str(path)).findings]


CASES: dict[str, tuple[tuple[Row | str, ...], list[tuple[int, str, Weight]]]] = {
    "nothing": ((), []),
    "clean": ((row("카지노"), row("막걸리"), row("BTC")), []),
    "clean with positions": ((row("카지노", position=2), row("막걸리", position=1)), []),
    "not JSON": (("{",), [(1, "unreadable", FIX)]),
    "no object": (("[1]",), [(1, "unreadable", FIX)]),
    "blank term": ((row(""), row(" "), row("\u3000")), [(line, "blank", FIX) for line in (1, 2, 3)]),
    "no term": (({"topic": "소재"},), [(1, "blank", FIX)]),
    "null topic": ((row("카지노", None),), [(1, "blank", FIX)]),
    "neither": (({},), [(1, "blank", FIX), (1, "blank", FIX)]),
    "only what shows nothing": ((row("\u200b\u3164"),), [(1, "blank", FIX)]),
    "number for a term": ((row(3),), [(1, "shape", FIX)]),
    "one position missing": ((row("카지노", position=1), row("막걸리")), [(2, "shape", FIX)]),
    "position as text": ((row("카지노", position="1"),), [(1, "shape", FIX)]),
    "position too wide": ((row("카지노", position=2**63), row("막걸리", position=-(2**63))), [(1, "shape", FIX)]),
    "unknown mode": ((row("카지노", mode="part"),), [(1, "shape", FIX)]),
    "except as text": ((row("카지노", **{"except": "카지노역"}),), [(1, "shape", FIX)]),
    "twice": ((row("카지노"), row("카지노")), [(2, "duplicate", FIX)]),
    "twice, once decomposed": (
        (row("카지노"), row(unicodedata.normalize("NFD", "카지노"))),
        [(2, "nfd", LOOK), (2, "duplicate", FIX)],
    ),
    "twice in two topics": ((row("카지노", "하나"), row("카지노", "둘")), []),
    "case apart": ((row("BTC"), row("btc")), [(2, "duplicate", LOOK)]),
    "full width": ((row("BTC"), row("ＢＴＣ")), [(2, "duplicate", LOOK)]),
    "decomposed": ((row(unicodedata.normalize("NFD", "막걸리")),), [(1, "nfd", LOOK)]),
    "padded": ((row(" 카지노"), row("막걸리\t")), [(1, "padded", FIX), (2, "padded", FIX)]),
    "padded topic": ((row("카지노", "소재 "),), [(1, "padded", FIX)]),
    "zero width inside": ((row("카\u200b지노"),), [(1, "padded", FIX)]),
    "comma": ((row("카지노, 막걸리"),), [(1, "glued", FIX)]),
    "bar": ((row("카지노|막걸리"),), [(1, "glued", FIX)]),
    "slash": ((row("카지노/막걸리"),), [(1, "glued", FIX)]),
    "a comma as a term": ((row(","),), []),
    "a space inside": ((row("구독 해지"),), []),
    "lost comma": (
        (row("카지노"), row("막걸리"), row("카지노막걸리")),
        [(3, "glued", LOOK), (3, "nested", LOOK)],
    ),
    "lost comma before digits": ((row("카지노118"),), [(1, "glued", LOOK)]),
    "one digit is a spelling": ((row("카지8"),), []),
    "inside another": ((row("카지노"), row("해외카지노")), [(2, "nested", LOOK)]),
    "inside another, of a later line": ((row("해외카지노"), row("카지노")), [(1, "nested", LOOK)]),
    "one syllable": ((row("담"),), [(1, "one_syllable", LOOK)]),
    "one jamo": ((row("ㅗ"),), []),
    "one letter": ((row("x"),), []),
    "homograph": ((row("살인"),), [(1, "homograph", LOOK)]),
    "homograph with contexts": ((row("살인", **{"except": ["몇 살인"]}),), []),
    "one syllable and homograph": ((row("술"),), [(1, "one_syllable", LOOK), (1, "homograph", LOOK)]),
    "a context without the term": ((row("카지노", **{"except": ["도박장"]}),), [(1, "idle_except", FIX)]),
    "a context across a space": ((row("자살", **{"except": ["혼자 살"]}),), []),
    "two modes": (
        (row("카지노", "하나", mode="any"), row("카지노", "둘", mode="word"), row("카지노", "셋")),
        [(2, "mode_differs", FIX)],
    ),
}


@pytest.mark.parametrize(("rows", "expected"), CASES.values(), ids=CASES)
def test_findings(tmp_path: Path, rows: tuple[Row | str, ...], expected: list[tuple[int, str, Weight]]) -> None:
    assert found(tmp_path, *rows) == expected


MESSAGES = {
    "josa agrees": (
        [row("카지노"), row("막걸리"), row("카지노막걸리")],
        "「카지노막걸리」는 1행의 「카지노」와 2행의 「막걸리」를 붙여 쓴 꼴입니다. "
        "사이에 쉼표나 줄 바꿈이 빠진 것은 아닌지 보세요.",
    ),
    "two topics": (
        [row("카지노", "도박"), row("카지노게임", "게임")],
        "「카지노게임」 안에 1행의 「카지노」가 들어 있습니다. 소재가 다르니(게임 / 도박) 긴 낱말이 나오면 양쪽 소재가 "
        "다 걸리고, 카드가 막은 소재 가운데 사전에서 앞선 것이 판정에 적힙니다. 순서를 확인하세요.",
    ),
    "one topic": (
        [row("선거", "정치"), row("재보궐선거", "정치")],
        "「재보궐선거」 안에 1행의 「선거」가 들어 있습니다. 소재가 같아 seed 프로필에서는 짧은 낱말만 있어도 "
        "걸립니다. 두 줄이 다 필요한지 보세요.",
    ),
    "composed form": (
        [row(unicodedata.normalize("NFD", "막걸리"))],
        "낱말이 자모를 따로 적은 꼴(NFD)입니다. 판정은 되지만 찾기나 정렬에서 어긋나니 「막걸리」로 다시 적으세요.",
    ),
    "what is hidden": (
        [row("카\u200b지노")],
        "낱말에 보이지 않는 글자(U+200B)가 섞여 있습니다. 낱말 칸을 새로 적으세요.",
    ),
}


@pytest.mark.parametrize(("rows", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages(tmp_path: Path, rows: list[Row], message: str) -> None:
    path = tmp_path / "lexicon.jsonl"
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows), encoding="utf-8")
    assert message in [finding.message for finding in lint_lexicon(str(path)).findings]


def test_a_sheet_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.csv"
    path.write_text('term,topic,except\n카지노,도박,"카지노역"\n막걸리\n담,음주,\n', encoding="utf-8")
    linted = lint_lexicon(str(path))
    assert linted.rows == 3
    assert [(finding.line, finding.code) for finding in linted.findings] == [(3, "unreadable"), (4, "one_syllable")]


def test_many_terms_take_no_time_by_pairs(tmp_path: Path) -> None:
    # Held by the runner's time limit: 20,000 terms in pairs would be 400 million comparisons.
    terms = [chr(0xAC00 + place % 11172) + chr(0xAC00 + place * 7 % 11172) + "가" for place in range(20_000)]
    found_lines = found(tmp_path, *(row(term) for term in dict.fromkeys(terms)))
    assert not [code for _, code, _ in found_lines if code == "duplicate"]
