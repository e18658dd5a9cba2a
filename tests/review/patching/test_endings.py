"""Endings that reviewers add become a profile file that `--profile-file` takes."""

import tomllib
from pathlib import Path

import pytest

from review.made import TERM, lines
from review.patching.desk import CARD, card_row, turn
from rules.profile import EXTENDED_NAME
from schemas.words import UserWords
from service.cli import run
from service.profiles import read_extended
from service.profiles.words import read_words
from service.review.patching.endings import ending, profile_of, toml_of, with_endings

WORDS = UserWords.model_validate(
    {
        "endings": {"add": [{"form": "삼", "level": "반말"}], "remove": ["네여", "쇼"]},
        "stop_nouns": {"add": ["요요"]},
        "kinship": {"add": [["동생", "아우"]], "remove": ["누이"]},
        "common_nouns": {"remove": ["하늘"]},
    }
)


@pytest.mark.parametrize(
    ("form", "level"),
    [
        ("", "존댓말"),
        ("요.", "존댓말"),
        ("yo", "존댓말"),
        ("그래 요", "존댓말"),
        ('요"\n[x]', "존댓말"),
        ("요", "반존대"),
        ("요" * 17, "존댓말"),
    ],
)
def test_what_is_no_ending_is_none(form: str, level: str) -> None:
    assert ending(form, level) is None


def test_endings_come_behind_those_of_the_file_and_the_later_of_one_form_counts() -> None:
    added = [ending("네여", "존댓말"), ending("삼", "하오체"), ending(" 네여 ", "불명")]
    words = with_endings(WORDS, [each for each in added if each is not None])
    assert [(each.form, each.level) for each in words.endings.add] == [("삼", "하오체"), ("네여", "불명")]
    assert words.endings.remove == ["쇼"]
    assert words.kinship == WORDS.kinship


@pytest.mark.parametrize("words", [UserWords(), WORDS])
def test_a_profile_file_is_read_as_it_was_written(words: UserWords, tmp_path: Path) -> None:
    file = tmp_path / "words.toml"
    file.write_text(toml_of(words), encoding="utf-8")
    assert read_words(file) == words
    assert read_extended(file) == profile_of(words)


def test_the_file_changes_what_is_heard(tmp_path: Path) -> None:
    """A reply that ends in an invented ending is judged otherwise once the file is given."""
    files = {"turns": turn("T-1", "오늘은 쉬겠사옵.", first_person=None), "cards": card_row(CARD), "lexicon": TERM}
    for name, row in files.items():
        (tmp_path / f"{name}.jsonl").write_bytes(lines(row))
    added = ending("사옵", "존댓말")
    assert added is not None
    (tmp_path / "words.toml").write_text(toml_of(with_endings(UserWords(), [added])), encoding="utf-8")
    where = {name: str(tmp_path / f"{name}.jsonl") for name in files}
    given = ["judge", where["turns"], "--cards", where["cards"], "--lexicon", where["lexicon"]]
    given += ["--profile", EXTENDED_NAME]
    found = []
    for more in ([], ["--profile-file", str(tmp_path / "words.toml")]):
        assert run([*given, "--out", str(tmp_path / "out.jsonl"), *more]) == 0
        found.append((tmp_path / "out.jsonl").read_text("utf-8"))
    assert "말투 어긋남" not in found[0]
    assert "말투 어긋남" in found[1]
    assert tomllib.loads((tmp_path / "words.toml").read_text("utf-8"))["endings"]["add"][0]["level"] == "존댓말"
