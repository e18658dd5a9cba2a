"""The workshop's tables hold what they are read for."""

from importlib.resources import files

import pytest

from service.profiles.tables import shipped
from service.workshop.instruments import extended
from service.workshop.same import is_syllables, unspaced
from service.workshop.words import common_words, everyday_chat, homographs

TABLES = ("everyday_chat.txt", "homographs.tsv", "common_words.txt")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_names_its_source(name: str) -> None:
    head = files("service.workshop.words").joinpath(name).read_text(encoding="utf-8").splitlines()[:2]
    assert head[0].startswith("# ")
    assert head[1].startswith("# Source: ")


def test_the_clean_corpus_is_large_and_says_nothing_twice() -> None:
    lines = everyday_chat()
    assert len(lines) >= 500
    assert len(set(lines)) == len(lines)
    assert all(line == line.strip() and any(map(is_syllables, line)) for line in lines)


def test_the_clean_corpus_holds_both_levels() -> None:
    level = extended(shipped()).level
    heard = [level(line) for line in everyday_chat()]
    assert heard.count("존댓말") > 150
    assert heard.count("반말") > 150
    assert "섞임" not in heard


@pytest.mark.parametrize("term", homographs())
def test_the_contexts_of_a_homograph_hold_it(term: str) -> None:
    known = homographs()[term]
    assert all(term in unspaced(context) for context in known.contexts)
    assert len(set(known.contexts)) == len(known.contexts)
    assert known.sense.strip()


def test_common_words_are_those_the_profile_lacks() -> None:
    assert not common_words() & set(shipped().nouns.common)
    assert all(map(is_syllables, common_words()))
