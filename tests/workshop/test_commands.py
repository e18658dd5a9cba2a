"""The workshop's commands as a creator types them, also wrongly."""

import json
from pathlib import Path

import pytest

from files.commands import Row, turnjudge, typed, write_rows

CARD: Row = {
    "character_id": "C",
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["다온"],
    "forbidden_topics": ["도박"],
    "entity_roles": [],
}
TERM: Row = {"term": "판돈", "topic": "도박"}
SAMPLE = Path("service/embedded/sample")


def test_a_finding_is_one_line_with_its_place(tmp_path: Path) -> None:
    lexicon = write_rows(tmp_path / "사전.jsonl", [TERM, TERM])
    done = typed("lexicon", "lint", lexicon)
    assert done.out.decode() == (
        f"{lexicon}:2: 고칠 것(duplicate): "
        "같은 낱말과 소재가 1행에 이미 있어 이 줄은 읽히지 않습니다. 이 줄을 지우세요.\n"
    )
    assert done.err == "2줄을 읽었습니다: 고칠 것 1건, 살펴볼 것 0건.\n"
    assert done.code == 1


def test_findings_as_records(tmp_path: Path) -> None:
    lexicon = write_rows(tmp_path / "lexicon.jsonl", [{"term": "담", "topic": "소재"}])
    done = typed("lexicon", "lint", lexicon, "--format", "jsonl")
    [row] = map(json.loads, done.out.splitlines())
    assert {key: row[key] for key in ("file", "line", "code", "weight")} == {
        "file": str(lexicon),
        "line": 1,
        "code": "one_syllable",
        "weight": "살펴볼 것",
    }
    assert done.code == 0


@pytest.mark.parametrize(("strict", "code"), [((), 0), (("--strict",), 1)])
def test_what_deserves_a_look_fails_only_when_asked(tmp_path: Path, strict: tuple[str, ...], code: int) -> None:
    lexicon = write_rows(tmp_path / "lexicon.jsonl", [{"term": "담", "topic": "소재"}])
    assert typed("lexicon", "lint", lexicon, *strict).code == code


def test_nothing_found(tmp_path: Path) -> None:
    done = typed("lexicon", "lint", write_rows(tmp_path / "lexicon.jsonl", [TERM]))
    assert (done.code, done.out, done.err) == (0, b"", "1줄을 읽었습니다: 걸리는 데가 없습니다.\n")


def test_stdin(tmp_path: Path) -> None:
    done = turnjudge("lexicon", "lint", "-", stdin=b'{"term": " ", "topic": "x"}\n')
    assert done.out.decode().startswith("stdin:1: 고칠 것(blank): ")


def test_cards_without_a_lexicon_say_what_was_not_asked(tmp_path: Path) -> None:
    done = typed("cards", "lint", write_rows(tmp_path / "cards.jsonl", [CARD]))
    assert (done.code, done.out) == (0, b"")
    assert done.err.splitlines() == [
        "1줄을 읽었습니다: 걸리는 데가 없습니다.",
        "--lexicon 파일을 주면 금지 소재마다 사전에 낱말이 있는지도 봅니다.",
    ]


def test_cards_with_a_lexicon(tmp_path: Path) -> None:
    cards = write_rows(tmp_path / "cards.jsonl", [CARD])
    good = write_rows(tmp_path / "good.jsonl", [TERM])
    bad = write_rows(tmp_path / "bad.jsonl", [TERM | {"topic": "도박판"}])
    assert typed("cards", "lint", cards, "--lexicon", good).code == 0
    done = typed("cards", "lint", cards, "--lexicon", bad)
    assert done.code == 1
    assert "고칠 것(forbidden_without_rows)" in done.out.decode()
    assert "사전의 「도박판」과 같은 소재면 똑같이 적으세요." in done.out.decode()


def test_the_sample_needs_no_mending() -> None:
    done = typed("cards", "lint", SAMPLE / "cards.jsonl", "--lexicon", SAMPLE / "lexicon.jsonl")
    assert (done.code, "고칠 것(" in done.out.decode()) == (0, False)
    assert typed("lexicon", "lint", SAMPLE / "lexicon.jsonl").code == 0


WRONG = {
    "no file": (("lexicon", "lint", "none.jsonl"), "turnjudge: none.jsonl: No such file or directory"),
    "a folder": (("lexicon", "lint", "service"), "turnjudge: service: Is a directory"),
    "no argument": (("lexicon", "lint"), "Error: Missing argument 'LEXICON'."),
    "no such command": (("lexicon", "mend"), "Error: No such command 'mend'."),
    "stdin twice": (("cards", "lint", "-", "--lexicon", "-"), "turnjudge: only one file can be read from stdin"),
    "stdin twice to try": (("lexicon", "try", "-", "--on", "-"), "turnjudge: only one file can be read from stdin"),
    "no text": (("lexicon", "try", "-", "--on", "none.txt"), "turnjudge: none.txt: No such file or directory"),
    "no such topic": (("lexicon", "try", "-", "--anywhere", "x"), "turnjudge: --anywhere x: expected a topic of"),
    "no such profile file": (("lexicon", "try", "-", "--profile-file", "none.toml"), "turnjudge: none.toml: "),
    "no place for the result": (("lexicon", "try", "-", "--out", "none/out.csv"), "turnjudge: none/out.csv: "),
    "no data": (("accuracy",), "Error: Missing option '--data'."),
    "data that is no folder": (("accuracy", "--data", "README.md"), "Error: Invalid value for '--data'"),
    "a folder without data": (("accuracy", "--data", "service"), "turnjudge: --data service: expected a folder"),
    "a half of none": (("accuracy", "--data", "service", "--half", "third"), "Error: Invalid value for '--half'"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_what_an_operator_can_mend_is_said_in_a_line(arguments: tuple[str, ...], message: str) -> None:
    done = typed(*arguments)
    assert done.code == 2
    assert any(line.startswith(message) for line in done.err.splitlines())
    assert "Traceback" not in done.err


def test_rows_that_a_try_cannot_read_are_named(tmp_path: Path) -> None:
    lexicon = write_rows(tmp_path / "lexicon.jsonl", [TERM, TERM])
    done = typed("lexicon", "try", lexicon, "--out", tmp_path / "out.jsonl")
    assert done.code == 1
    assert f"{lexicon}:2: schema_invalid: term, topic: expected once in a file, first on line 1" in done.err
    assert "turnjudge lexicon lint로 까닭을 보세요." in done.err


def test_words_of_a_profile_file_count(tmp_path: Path) -> None:
    lexicon = write_rows(tmp_path / "lexicon.jsonl", [{"term": "물감", "topic": "소재"}])
    text, words = tmp_path / "chat.txt", tmp_path / "words.toml"
    text.write_text("수채물감을 샀어\n", encoding="utf-8")
    words.write_text('[common_nouns]\nadd = ["수채"]\n', encoding="utf-8")
    plain = typed("lexicon", "try", lexicon, "--on", text, "--format", "jsonl")
    changed = typed("lexicon", "try", lexicon, "--on", text, "--format", "jsonl", "--profile-file", words)
    assert [json.loads(done.out)["lines"]["now"] for done in (plain, changed)] == [0, 1]
