"""The measuring itself, on a folder of our own invention; figures of the real sets are no test's business."""

import json
from pathlib import Path
from typing import Any

import pytest

from files.commands import read_rows, typed
from service.errors import OperatorError
from service.profiles.tables import shipped
from service.workshop.accuracy import measure
from service.workshop.accuracy_sets import FILES, Half, is_test, read_sets
from service.workshop.accuracy_speech import JOINED, joined

POLITE = [f"오늘은 {number}번 버스를 탔어요." for number in range(40)]
PLAIN = [f"오늘은 {number}번 버스를 탔어." for number in range(40)]
ODD = [f"{number}번 버스가 옵니까?" for number in range(10)]
CLEAN = ["시발점에서 만나요.", "술래는 누구야?", "밥 먹자."]
ABUSIVE = [f"야 이 바보멍청 {number}호야" for number in range(10)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the six files, each in the shape of the public one."""
    labelled = [(text, "존댓말", "smile.formal") for text in POLITE]
    labelled += [(text, "반말", "smile.informal") for text in PLAIN]
    labelled += [(text, "존댓말", "kqc.test.formal") for text in ODD]
    labelled += [('"인용이 ""있는"" 줄이오."', "하오체", "smile.king")]
    rows = ["text\tlabel\tsource\tliteral4", *("\t".join((*row, "반말")) for row in labelled)]
    files = {
        "politeness_labelled.tsv": "\n".join(rows) + "\n",
        "korcen_terms_topics.tsv": "term\ttopic\n시발\tgeneral\n바보멍청\tgeneral\n술\tgeneral\n",
        "korcen_allow_contexts.tsv": "context\ttopic\n시발점\tgeneral\n출시발표\tgeneral\n",
        "ChatbotData.csv": "Q,A,label\n" + "".join(f'"{text}",알겠어요.,0\n' for text in CLEAN),
        "Xpersona_Ko_test.json": json.dumps([{"persona": [], "dialogue": [["안녕?", "그래, 안녕."]]}]),
        "2runo.txt": "".join(f"{text}|1\n" for text in ABUSIVE) + "오늘 날씨 좋다|0\n가|나|0\n",
    }
    assert set(files) == set(FILES)
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_sets_are_read_as_they_are(folder: Path) -> None:
    sets = read_sets(folder, Half.ALL)
    assert sets.labelled is not None
    assert [row.text for row in sets.labelled] == [*POLITE, *PLAIN, *ODD, '인용이 "있는" 줄이오.']
    assert sets.clean is not None
    assert {*CLEAN, "알겠어요.", "안녕?", "그래, 안녕.", *POLITE, *PLAIN} < set(sets.clean)
    assert not set(ODD) & set(sets.clean)
    assert sets.abusive == tuple(ABUSIVE)
    assert sets.civil == ("오늘 날씨 좋다", "가|나")
    assert sets.contexts == ("시발점", "출시발표")


def test_the_halves_are_apart_and_whole(folder: Path) -> None:
    halves = [read_sets(folder, half).labelled or () for half in (Half.TEST, Half.DEVELOPMENT)]
    assert not set(halves[0]) & set(halves[1])
    assert set(halves[0]) | set(halves[1]) == set(read_sets(folder, Half.ALL).labelled or ())
    assert all(is_test(row.text) for row in halves[0])


# First bytes of sha1 by sha1sum.
@pytest.mark.parametrize(("text", "test"), [("a", False), ("b", True), ("c", False), ("d", False), ("e", False)])
def test_the_test_half_is_an_odd_first_byte(text: str, test: bool) -> None:
    first = {"a": 0x86, "b": 0xE9, "c": 0x84, "d": 0x3C, "e": 0x58}[text]
    assert is_test(text) is test is (first % 2 == 1)


def test_the_figures_of_a_small_folder(folder: Path) -> None:
    measured = measure(folder, Half.ALL, 1, shipped())
    seed, extended = measured.speech["seed"], measured.speech["extended"]
    assert (seed.level.recall.part, seed.level.recall.whole) == (40, 50)
    assert (extended.level.recall.part, extended.level.recall.whole) == (50, 50)
    assert extended.level.precision.value == 1.0
    assert (extended.joined.true_hits, extended.joined.misses) == (JOINED, 0)
    assert seed.joined.true_hits == 0
    assert extended.confusion["하오체", "하오체"] == 1
    cited = {stressed.name: stressed for stressed in seed.stressed}["another's words cited"].plain
    assert cited is not None
    assert (cited.part, cited.whole) == (0, 40)
    assert {error["text"] for error in measured.errors if error["part"] == "speech" and error["profile"] == "seed"} == {
        *ODD,
        '인용이 "있는" 줄이오.',
    }


def test_the_terms_of_a_small_folder(folder: Path) -> None:
    terms = measure(folder, Half.ALL, 1, shipped()).terms
    assert terms is not None
    by_way = {(met.written.profile, met.written.modes, met.written.with_contexts): met for met in terms.met}
    plain = by_way["seed", "as given", False]
    assert (plain.clean.part, plain.abusive.part, plain.civil.part) == (2, 10, 0)
    assert by_way["extended", "any", False].clean.part == 2
    assert by_way["extended", "any", True].clean.part == 1
    assert by_way["extended", "proposed by lexicon try", False].clean.part == 0
    assert by_way["extended", "proposed by lexicon try", True].abusive.part == 10
    hidden = {evasion.spelling: (evasion.seed.part, evasion.extended.part) for evasion in terms.evasions}
    assert hidden["~ between"] == (0, 2)
    assert hidden["initials only"] == (0, 0)


def test_replies_are_joined_by_a_seed(folder: Path) -> None:
    rows = read_sets(folder, Half.ALL).labelled or ()
    once, again, other = (list(joined(rows, seed)) for seed in (3, 3, 4))
    assert once == again != other
    assert len(once) == JOINED
    assert all("요." in text and "어." in text for text in once if "까?" not in text)


@pytest.mark.parametrize(
    ("name", "has_speech", "has_terms"),
    [
        ("politeness_labelled.tsv", False, True),
        ("korcen_terms_topics.tsv", True, False),
        ("korcen_allow_contexts.tsv", True, True),
        ("ChatbotData.csv", True, True),
        ("2runo.txt", True, False),
    ],
)
def test_what_a_missing_file_takes_away_is_named(folder: Path, name: str, has_speech: bool, has_terms: bool) -> None:
    (folder / name).unlink()
    measured = measure(folder, Half.ALL, 1, shipped())
    assert measured.sets.missing == (name,)
    assert (bool(measured.speech), measured.terms is not None) == (has_speech, has_terms)


def test_an_empty_folder_is_the_operators(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=r"expected a folder with one of politeness_labelled\.tsv"):
        read_sets(tmp_path, Half.TEST)


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_shape_is_the_operators(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"\xff\xff|\t\n\xff" if name == "2runo.txt" else b"one\ntwo\n")
    if name == "ChatbotData.csv":
        (folder / name).write_bytes(b"one\ntwo\n")
    with pytest.raises(OperatorError, match=f"{name}: expected the file that the folder's README describes"):
        read_sets(folder, Half.TEST)


def test_the_command(folder: Path, tmp_path: Path) -> None:
    errors = tmp_path / "errors.jsonl"
    done = typed("accuracy", "--data", folder, "--half", "all", "--seed", "7", "--errors", errors)
    text = done.out.decode()
    assert (done.code, done.err) == (0, "")
    assert text.startswith("half: all (sha1 of the text: an odd first byte is the test half); seed of draws: 7\n")
    assert "canon names with particles; other names swallowed; surnames merged: needs KLUE-NER" in text
    assert "BARS" not in text
    assert {row["part"] for row in read_rows(errors)} == {"speech", "joined", "stress", "terms"}


def test_the_command_misses_a_bar(folder: Path) -> None:
    rows = "".join(f"{text}\t반말\tsmile.informal\t반말\n" for text in POLITE)
    with (folder / "politeness_labelled.tsv").open("a", encoding="utf-8") as file:
        file.write(rows)
    done = typed("accuracy", "--data", folder, "--format", "json")
    figures: dict[str, Any] = json.loads(done.out)
    assert done.code == 1
    assert {bar["what"]: bar["holds"] for bar in figures["bars"]}["speech, precision of polite"] is False


@pytest.mark.needs("shared")
def test_the_real_folder_is_read(shared: Path) -> None:
    sets = read_sets(shared / "data", Half.TEST)
    assert sets.missing == ()
    assert (len(sets.terms or ()), len(sets.contexts or ())) == (915, 508)
    stressed = [row.source for row in sets.labelled or ()]
    # As many as the notes measured their stresses on.
    assert (stressed.count("smile.formal"), stressed.count("smile.informal")) == (1_699, 1_769)
