"""The matcher against a naive search, and the way back from folded text to the output as it came."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.folding import Folded
from rules.oracle import matcher as matching
from rules.oracle.criteria import Criteria, read_criteria
from rules.oracle.matcher import MOST_PLACES, Matcher
from rules.oracle.pattern import Pattern
from rules.oracle.words import find_words

# Few letters, so that words overlap, nest and repeat; jamo and marks, so that folding changes lengths.
LETTERS = "가각나ㅋaA 1"
COMPOSING = "가각\u1100\u1161\u11a8e\u0301\u0323\u0344\u09c7\u09be\u0f73\u0f71q <\u0338"
words = st.text(LETTERS, min_size=1, max_size=4).filter(lambda word: not word.isspace())
outputs = st.text(LETTERS, max_size=60)


def naive(word: str, text: str) -> list[tuple[int, int]]:
    """Every place of a word, tried one by one."""
    return [(at, at + len(word)) for at in range(len(text)) if text[at : at + len(word)] == word]


@given(st.lists(words, max_size=12), outputs)
def test_the_matcher_finds_what_a_naive_search_finds(entries: list[str], output: str) -> None:
    found = Matcher(entries, {}).scan(output)
    expected = {entry: naive(entry, output) for entry in entries if entry in output}
    assert {entry: list(places.spans) for entry, places in found.items()} == {
        entry: spans[:MOST_PLACES] for entry, spans in expected.items()
    }
    assert {entry for entry, places in found.items() if places.are_more} == {
        entry for entry, spans in expected.items() if len(spans) > MOST_PLACES
    }


@given(
    st.lists(words, min_size=1, max_size=6),
    st.text(LETTERS, max_size=200),
    st.integers(1, 9),
    st.sampled_from([1, 3, 1_000]),
)
def test_where_a_stretch_ends_nothing_is_lost_or_found_twice(
    entries: list[str], output: str, stretch: int, most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "STRETCH", stretch)
        patch.setattr(matching, "MOST_PLACES", most)
        found = Matcher(entries, {}).scan(output)
    expected = {entry: naive(entry, output) for entry in entries if entry in output}
    assert {entry: (list(places.spans), places.are_more) for entry, places in found.items()} == {
        entry: (spans[:most], len(spans) > most) for entry, spans in expected.items()
    }


@given(st.text(COMPOSING, max_size=30), st.data())
def test_a_folded_span_is_found_again_in_the_output_as_it_came(output: str, data: st.DataObject) -> None:
    folded = Folded(output)
    assert folded.text == unicodedata.normalize("NFC", output)
    if not folded.text:
        return
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))
    first, last, quote = folded.quote(start, end)
    assert quote == output[first:last]
    # What came between holds the span, and cutting there changes nothing before or behind it.
    assert folded.text[start:end] in unicodedata.normalize("NFC", quote)
    parts = (output[:first], quote, output[last:])
    assert "".join(unicodedata.normalize("NFC", part) for part in parts) == folded.text
    assert len(unicodedata.normalize("NFC", output[:first])) <= start


@given(st.lists(words, min_size=1, max_size=4), st.text(LETTERS, max_size=40))
def test_the_form_an_output_came_in_changes_only_the_offsets(entries: list[str], output: str) -> None:
    criteria = _criteria({"must_include": [entries]})
    matcher = Matcher(criteria.entries(), criteria.patterns)
    composed = find_words(criteria, matcher, Folded(output))
    decomposed = find_words(criteria, matcher, Folded(unicodedata.normalize("NFD", output)))
    for one, other in zip(composed.groups[0].by, decomposed.groups[0].by, strict=True):
        assert one.entry == other.entry
        assert [unicodedata.normalize("NFC", place.text) for place in other.places] == [
            place.text for place in one.places
        ]


def test_a_decomposed_output_keeps_its_own_offsets() -> None:
    output = unicodedata.normalize("NFD", "값은 원금 보장")
    criteria = _criteria({"must_include": ["원금 보장"]})
    [met] = find_words(criteria, Matcher(criteria.entries(), {}), Folded(output)).groups
    [place] = met.by[0].places
    assert output[place.start : place.end] == unicodedata.normalize("NFD", "원금 보장") == place.text
    assert place.start == len(unicodedata.normalize("NFD", "값은 "))


@pytest.mark.parametrize(
    ("word", "output", "stands"),
    [
        ("가", unicodedata.normalize("NFD", "각"), False),  # a syllable is not the start of a longer one
        (unicodedata.normalize("NFD", "가"), "가나", True),
        ("ABC", "abc", False),
        ("ABC", "ＡＢＣ", False),
        ("ㅋㅋ", "ㅋㅋㅋ", True),
        ("무조건", "무 조건", False),
        ("3.5%", "3x5%", False),
        ("é", "e\u0301", True),
        ("e", "e\u0301", False),
        ("e\u0323", "e\u0301\u0323", True),  # NFC puts the lower mark first
    ],
)
def test_words_stand_to_the_letter_after_nfc(word: str, output: str, stands: bool) -> None:
    criteria = _criteria({"must_not_include": [word]})
    found = find_words(criteria, Matcher(criteria.entries(), {}), Folded(output))
    assert found.hold is not stands


EXPRESSIONS = ("가+", "[가나]{2}", "(a|1)A?", "가.각", "^나", "ㅋ$", "a1|1a", "[^가 ]+")


@given(st.sampled_from(EXPRESSIONS), st.text(LETTERS.replace("\n", ""), max_size=40))
def test_an_expression_finds_what_the_standard_library_finds(expression: str, output: str) -> None:
    [entry] = [f"re:{expression}"]
    found = Matcher([entry], {entry: Pattern(expression)}).scan(output)
    expected = [match.span() for match in re.finditer(expression, output)]
    assert list(found[entry].spans if entry in found else ()) == expected[:MOST_PLACES]


@pytest.mark.parametrize(
    ("expression", "output", "places"),
    [
        (r"연\s*3[.]5\s?(%|퍼센트)", "연  3.5 퍼센트, 연 3.5%", [(0, 10), (12, 18)]),
        (r"\p{Hangul}+", "ab 가나 c", [(3, 5)]),
        ("(?i)abc", "ABC", [(0, 3)]),
        ("[가-나]", unicodedata.normalize("NFD", "각"), [(0, 3)]),
        (unicodedata.normalize("NFD", "[가-나]"), "각", [(0, 1)]),
        ("x*가", "가", [(0, 1)]),
    ],
)
def test_expressions_match_as_re2_says(expression: str, output: str, places: list[tuple[int, int]]) -> None:
    entry = f"re:{expression}"
    criteria = _criteria({"must_include": [entry]})
    [met] = find_words(criteria, Matcher(criteria.entries(), criteria.patterns), Folded(output)).groups
    assert [(place.start, place.end) for found in met.by for place in found.places] == places


def test_words_and_expressions_of_a_case_are_told_apart() -> None:
    criteria = _criteria({"must_include": [["가나", "re:나."], "나"], "must_not_include": ["re:다$", "라"]})
    found = find_words(criteria, Matcher(criteria.entries(), criteria.patterns), Folded("가나다"))
    assert [[each.entry for each in met.by] for met in found.groups] == [["가나", "re:나."], ["나"]]
    assert [each.entry for each in found.banned] == ["re:다$"]
    assert not found.hold


def _criteria(given_criteria: dict[str, object]) -> Criteria:
    criteria = read_criteria({"evaluation_criteria": given_criteria})
    assert isinstance(criteria, Criteria), criteria
    return criteria
