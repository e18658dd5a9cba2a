from pathlib import Path

import pytest

from extended.reading import card, entries, roles, turn
from files.commands import typed, write_rows
from rules.judge import judge
from rules.reading import Reading
from schemas.card import Card
from schemas.element import Namings, Position
from schemas.lexicon import Entry
from schemas.turn import Turn
from service.errors import OperatorError
from service.profiles import read_profiles
from service.settings import JudgingSettings, load_settings
from service.snapshot import Snapshot, snapshot

WORDS = """\
[endings]
add = [{form = "뾰용", level = "존댓말"}, {form = "뀨", level = "반말"}, {form = "걸입쇼", level = "불명"}]
remove = ["쥬"]

[stop_nouns]
add = ["별다"]
remove = ["담요"]

[honorifics]
add = ["대장"]

[kinship]
add = [["동생", "동상"], ["짝꿍", "단짝"]]
remove = ["아우"]

[common_nouns]
add = ["별하"]
remove = ["하늘"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "words.toml"
    path.write_text(WORDS, encoding="utf-8")
    return path


def under(file: Path | None, a_card: Card, lexicon: list[Entry] | None = None) -> Snapshot:
    return snapshot([a_card], lexicon or [], *read_profiles("extended", file))


def read(held: Snapshot, a_turn: Turn, namings: Namings | None = None) -> Reading:
    return held.book.desks["extended"].reader.read(
        a_turn, held.characters["C"].facts, namings or {}, Position(9, 0, None)
    )


# A reply, and its level without and with the words.
HEARD = (
    ("다 왔뾰용!", None, "존댓말"),
    ("배고프뀨.", None, "반말"),
    ("가쥬.", "존댓말", None),
    ("이게 별다!", "반말", None),
    ("이 담요!", None, "존댓말"),
)


@pytest.mark.parametrize(("reply", "before", "after"), HEARD)
def test_endings_and_stop_nouns_change_what_is_heard(
    file: Path, reply: str, before: str | None, after: str | None
) -> None:
    for words, level in ((None, before), (file, after)):
        assert read(under(words, card()), turn(reply_text=reply)).speech.level == level


def test_honorifics_kinship_and_common_nouns_change_what_is_the_same(file: Path) -> None:
    known = card(canon_entities=("별하", "하늘"), entity_roles=roles(동생="별하", 단짝="하늘"))
    plain, changed = under(None, known), under(file, known)
    asking = turn(reply_text="별하 하늘", user_message="동상 말고 짝꿍은?", user_asked_recall=True)
    assert read(plain, asking).asked == ()
    assert [(each.role.role, each.unsure) for each in read(changed, asking).asked or ()] == [
        ("동생", True),
        ("단짝", False),
    ]
    named = turn(reply_text="그래.", named_entities=["별하대장이"])
    assert "별하대장이" not in read(plain, named).known
    assert "별하대장이" in read(changed, named).known


def test_a_common_noun_carries_a_term_behind_it(file: Path) -> None:
    lexicon = entries("노름")
    assert not read(under(None, card(), lexicon), turn(reply_text="별하노름이야.")).hits
    assert read(under(file, card(), lexicon), turn(reply_text="별하노름이야.")).hits


def test_what_words_change_passes_the_checks_and_stands_in_the_digest(file: Path) -> None:
    plain, changed = under(None, card()), under(file, card())
    assert plain.profile_digest != changed.profile_digest
    assert under(file, card()).profile_digest == changed.profile_digest
    desk = changed.book.desks["extended"]
    result = judge(turn(reply_text="배고프뀨."), changed.characters["C"].facts, desk.reader, {}, Position(1, 0, None))
    assert result.record["rule_observed"] == "반말 · 나"


# What stands in a file, and the line and field that are named.
WRONG = (
    ("endings = 3", "1: endings: expected a table"),
    ("\n[endings]\nadd = [{form = '요'}]", "3: endings.add[0].level: expected to be there"),
    (
        "[endings]\nadd = [\n {form = 'yo', level = '반말'}]",
        "3: endings.add[0].form: expected Hangul syllables without",
    ),
    (
        "[endings]\nadd = [{form = '요', level = '해요체'}]",
        "2: endings.add[0].level: expected one of 존댓말, 반말, 하오",
    ),
    ("[endings]\nremove = '요'", "2: endings.remove: expected a list"),
    ("[stop_nouns]\nadd = ['필 요']", "2: stop_nouns.add[0]: expected Hangul syllables without spaces"),
    ("[stop_nouns]\n\nremove = [1]", "3: stop_nouns.remove[0]: expected text"),
    ("[kinship]\nadd = [[]]", "2: kinship.add[0]: expected at least one word"),
    ("[kinship]\nadd = ['형']", "2: kinship.add[0]: expected a list"),
    ("[surnames]\nadd = ['뷁']", "1: surnames: expected none of that name"),
    ("[honorifics]\nadd = []\nput = []", "3: honorifics.put: expected none of that name"),
    ("[endings", "1: expected TOML"),
    ("a = 1\na = 2", "2: expected TOML"),
)


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_wrong_file_is_one_line_with_line_field_and_expectation(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "words.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OperatorError) as error:
        read_profiles("seed", path)
    assert str(error.value).startswith(f"{path}:{said}")
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_text_or_not_there_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    with pytest.raises(OperatorError, match="No such file"):
        read_profiles("seed", path)
    path.write_bytes(b"\xff")
    with pytest.raises(OperatorError, match="expected UTF-8"):
        read_profiles("seed", path)


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text("# none yet\n", encoding="utf-8")
    assert read_profiles("extended", path) == read_profiles("extended")


def test_the_setting_and_the_option_name_the_file(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"turn_id": "T", "session_id": "S", "character_id": "C", "model_id": "m", "reply_text": "배고프뀨."}
    a_card = {"character_id": "C", "honorific_rule": "존댓말", "canon_entities": ["별하"]}
    write_rows(tmp_path / "turns.jsonl", [row])
    write_rows(tmp_path / "cards.jsonl", [a_card | {"forbidden_topics": [], "entity_roles": []}])
    write_rows(tmp_path / "lexicon.jsonl", [])
    rows = ("--cards", tmp_path / "cards.jsonl", "--lexicon", tmp_path / "lexicon.jsonl", "--profile", "extended")
    assert b'"rule_observed":null' in typed("judge", tmp_path / "turns.jsonl", *rows).out
    done = typed("judge", tmp_path / "turns.jsonl", *rows, "--profile-file", file)
    assert '"rule_observed":"반말"' in done.out.decode()
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_bytes(done.out)
    assert typed("verify", verdicts, "--turns", tmp_path / "turns.jsonl", *rows).code == 1
    monkeypatch.setenv("TURNJUDGE_PROFILE_FILE", str(file))
    assert load_settings(JudgingSettings).profile_file == file
    assert typed("verify", verdicts, "--turns", tmp_path / "turns.jsonl", *rows).code == 0
    file.write_text("[endings", encoding="utf-8")
    broken = typed("judge", tmp_path / "turns.jsonl", *rows)
    assert (broken.code, broken.err) == (2, f"turnjudge: {file}:1: expected TOML\n")
