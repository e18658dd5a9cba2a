import pytest

from service.workshop.concordance import commonest, concordance

CASES = {
    "alone": ("술", "술", [("(줄 처음)", "(줄 끝)")]),
    "in a word": ("술", "미술관에 갔어", [("미-", "-관에")]),
    "between words": ("선거", "지난 선거 날에", [("지난", "날에")]),
    "a particle behind": ("선거", "선거는 끝났어", [("(줄 처음)", "-는")]),
    "marks around": ("선거", "아, 선거! 끝", [("아", "끝")]),
    "twice in a line": ("술", "기술과 예술", [("기-", "-과"), ("예-", "(줄 끝)")]),
    "overlapping": ("하하", "하하하", [("(줄 처음)", "-하"), ("하-", "(줄 끝)")]),
    "another case": ("BTC", "btc 샀어", [("(줄 처음)", "샀어")]),
    "decomposed": ("\u1109\u116e\u11af", "예술", [("예-", "(줄 끝)")]),
    "zero width inside": ("선거", "선\u200b거 날", [("(줄 처음)", "날")]),
    "not there": ("선거", "선생님 거기", []),
}


@pytest.mark.parametrize(("term", "line", "contexts"), CASES.values(), ids=CASES)
def test_contexts(term: str, line: str, contexts: list[tuple[str, str]]) -> None:
    [found] = concordance([term], [line])
    assert [(occurrence.left_context, occurrence.right_context) for occurrence in found] == contexts


def test_terms_keep_their_places() -> None:
    found = concordance(["술", "", "기술", "술"], ["기술", "술"])
    assert [[occurrence.line for occurrence in of_term] for of_term in found] == [[0, 1], [], [0], [0, 1]]


def test_no_terms_and_no_lines() -> None:
    assert concordance([], ["술"]) == []
    assert concordance(["술"], []) == [[]]


def test_commonest_counts_and_cuts() -> None:
    [found] = concordance(["술"], ["기술", "예술", "기술은", "미술"])
    contexts = commonest(found, 2)
    assert contexts.left == (("기-", 2), ("예-", 1))
    assert contexts.right == (("(줄 끝)", 3), ("-은", 1))
