"""Every word of the page is there in both languages, and none is there for nothing."""

import re
import string

import pytest

from rules.working import State as WhyState
from schemas.hedge import HedgeCode
from schemas.refusal import Reason
from service.forget import Stays
from service.review.notes import AUTOMATIC, BOUNDARY, MANUAL
from service.review.pages.jobs import State
from service.review.pages.queues import QUEUES
from service.review.pages.sheets import Sheet
from service.review.pages.standing import Following
from service.review.pages.verdicts import AtLeast
from service.review.store.accesses import What
from service.review.store.decisions import ANSWERS
from service.review.store.forgetting import REMOVED
from service.review.store.publications import PublicationState
from service.review.store.samples import REVIEWERS
from service.review.why import Unexplained
from service.review.words import WORDS, said
from services import ROOT, SHARED

ROOM = ROOT / "service/review"
FILES = [*ROOM.glob("templates/*.html"), *ROOM.glob("pages/*.py")]
TEXT = "\n".join(file.read_text("utf-8") for file in FILES)
# Keys that are put together from a value of a closed list.
MADE = frozenset(
    [f"refused_{reason}{end}" for reason in Reason for end in ("", "_long")]
    + [f"skipped_{code}" for code in HedgeCode]
    + [f"upload_state_{state}" for state in State]
    + [f"export_{sheet}" for sheet in Sheet]
    + [f"access_{what}" for what in What]
    + [f"check_{item}" for item in range(1, 11)]
    + [f"mark_{kind}" for kind in ("term", "name", "role", "target", "ending")]
    + [f"theme_{theme}" for theme in ("light", "dark", "auto")]
    + [f"upload_{kind}{end}" for kind in ("turns", "cards", "lexicon") for end in ("", "_about")]
    + [f"why_{state}" for state in (*WhyState, *Unexplained)]
    + [f"type_{kind}" for kind in ("string", "null", "boolean", "array", "object", "integer", "number")]
    + [f"queue_{queue}{end}" for queue in QUEUES for end in ("", "_about", "_ask")]
    + [f"answer_{answer}" for queue in QUEUES for answer in ANSWERS[queue]]
    + [f"review_state_{state}" for state in ("mine", "waits", "done", "gone")]
    + [f"publication_{state}" for state in (*PublicationState, "broken")]
    + [f"flip_{kind}" for kind in ("fixed", "broken", "moved")]
    + [f"review_reviewers_{count}" for count in REVIEWERS]
    + [f"live_{state}" for state in Following]
    + [f"stays_{each}" for each in Stays]
    + [f"removed_{table}" for table in REMOVED]
    + [f"loads_{state}" for state in ("loading", "cancelled", "abandoned", "undone")]
)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", WORDS)
def test_both_languages_say_the_same_values(key: str) -> None:
    words = WORDS[key]
    assert words.en
    assert words.ko or key.startswith("gloss_")
    assert fields(words.ko) == fields(words.en) or key.startswith("gloss_")
    values = dict.fromkeys(fields(words.en), 1)
    assert "{" not in said("ko", key, **values) + said("en", key, **values)


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (1_234, "1,234 turns"), (AtLeast(20), "20+ turns")],
)
def test_a_number_has_the_word_that_goes_with_it(count: int, words: str) -> None:
    assert said("en", "turns_count", count=count) == words
    assert said("ko", "turns_count", count=count) == f"{count:,} 회차"


def test_korean_stands_in_no_word_of_english() -> None:
    assert [key for key, words in WORDS.items() if re.search("[가-힣]", words.en)] == []


def test_every_key_that_is_asked_for_is_there() -> None:
    asked = set(re.findall(r'(?<![a-z_.])t\("([a-z_0-9]+)"', TEXT)) | set(
        re.findall(r"(?<![a-z_.])t\('([a-z_0-9]+)'", TEXT)
    )
    asked |= set(re.findall(r'said\([a-z_]+, "([a-z_0-9]+)"', TEXT)) | MADE
    assert asked - set(WORDS) - {key for key in asked if key.endswith("_")} == set()


def test_no_word_is_there_for_nothing() -> None:
    quoted = set(re.findall(r"[\"']([a-z_0-9]+)[\"']", TEXT)) | MADE
    quoted |= {f"{key}_next" for key in quoted if key.startswith("error_")}
    assert [key for key in WORDS if key not in quoted and not key.startswith("notice_")] == []


@pytest.mark.needs("shared")
def test_the_notes_are_the_words_of_the_specification() -> None:
    (file,) = SHARED.glob("spec/000_*.txt")
    spec = file.read_text("utf-8")
    assert len(AUTOMATIC) == 10
    assert len(MANUAL) == 3
    for place, words in enumerate(AUTOMATIC, start=1):
        assert f" {place}. {words}" in spec
    for place, words in enumerate(MANUAL, start=1):
        assert f" {place}. {words}" in spec[spec.index("[수동 검증") :]
    assert all(words.ko and words.en for words in BOUNDARY)
