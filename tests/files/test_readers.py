import json
import os
import threading
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from schemas.refusal import Reason, Refusal
from schemas.turn import Turn
from schemas.verdict import COLUMNS
from service.decode import Caps, decode_turn
from service.errors import OperatorError
from service.files.readers import read_cards, read_lexicon, read_turns, turn_file
from service.files.sheets import CARD_COLUMNS, LEXICON_COLUMNS, TURN_COLUMNS

CAPS = Caps()
TURN = {"turn_id": "T-1", "session_id": "S", "character_id": "C", "model_id": "m"}
CARD = {"character_id": "C", "honorific_rule": "반말", "canon_entities": [], "forbidden_topics": [], "entity_roles": []}
BOM = b"\xef\xbb\xbf"
QUOTES = "malformed: row: expected CSV whose quoted cells are closed and double the quotes in them"


def json_line(row: Any) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode()


def turns_of(path: Path, caps: Caps = CAPS) -> list[tuple[int, Turn | str]]:
    """By line: the turn, or the refusal in words."""
    read: list[tuple[int, Turn | str]] = []
    for line, value in read_turns(str(path), caps, pytest.fail):
        turn = value if isinstance(value, Refusal) else decode_turn(value, caps)
        read.append((line, f"{turn.reason}: {turn.detail}" if isinstance(turn, Refusal) else turn))
    return read


def only(path: Path, caps: Caps = CAPS) -> Turn | str:
    [(_, turn)] = turns_of(path, caps)
    return turn


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n \n\t\r\n\n", []),
        (BOM, []),
        (b"%s\n%s\n", [1, 2]),
        (b"%s\r\n%s\r\n", [1, 2]),
        (b"%s\n%s", [1, 2]),
        (b"\n%s\n\n  \n%s", [2, 5]),
        (BOM + b"%s\n%s", [1, 2]),
        (b"  %s  \n", [1]),
    ],
    ids=["empty", "blank", "bom only", "lf", "crlf", "no end", "blank between", "bom", "spaces"],
)
def test_jsonl_lines(tmp_path: Path, content: bytes, lines: list[int]) -> None:
    path = tmp_path / "turns.jsonl"
    row = json_line(TURN | {"reply_text": "안녕"})
    path.write_bytes(content.replace(b"%s", row))
    assert [line for line, _ in turns_of(path)] == lines
    assert all(isinstance(turn, Turn) and turn.reply_text == "안녕" for _, turn in turns_of(path))


REFUSED_LINES = {
    "not JSON": (b"{", "malformed: record: expected JSON by RFC 8259 ("),
    "not UTF-8": (b'{"turn_id": "\xff"}', "malformed: record: expected JSON by RFC 8259 ("),
    "CP949": ('{"turn_id": "가"}'.encode("cp949"), "malformed: record: expected JSON by RFC 8259 ("),
    "NaN": (b'{"turn_id": NaN}', "malformed: record: expected JSON by RFC 8259 ("),
    "lone surrogate": (rb'{"turn_id": "\ud800"}', "malformed: record: expected JSON by RFC 8259 ("),
    "deep": (b"[" * 129 + b"]" * 129, "malformed: record: expected JSON by RFC 8259 (nesting deeper than 128)"),
    "bom inside": (BOM + json_line(TURN), "malformed: record: expected JSON by RFC 8259 ("),
    "array": (b"[]", "schema_invalid: row: expected object"),
    "number": (b"1", "schema_invalid: row: expected object"),
    "missing": (b'{"session_id": "S"}', "schema_invalid: turn_id, character_id, model_id: expected to be there"),
    "null": (json_line(TURN | {"turn_id": None}), "schema_invalid: turn_id: expected string"),
    "blank": (
        json_line(TURN | {"session_id": "\u3000 "}),
        "schema_invalid: session_id: expected text that is not blank",
    ),
    "number for text": (json_line(TURN | {"reply_text": 7}), "schema_invalid: reply_text: expected string or null"),
    "text for a flag": (
        json_line(TURN | {"user_asked_recall": "true"}),
        "schema_invalid: user_asked_recall: expected boolean or null",
    ),
    "name": (json_line(TURN | {"named_entities": ["가", 1]}), "schema_invalid: named_entities[1]: expected string"),
    "names": (json_line(TURN | {"named_entities": "가"}), "schema_invalid: named_entities: expected array or null"),
    "too many names": (
        json_line(TURN | {"named_entities": ["가"] * 257}),
        "too_large: named_entities: expected at most 256 names",
    ),
    "too long": (json_line(TURN | {"reply_text": "a" * 262144}), "too_large: record: expected at most 262144 bytes"),
    "far too long": (json_line(TURN | {"reply_text": "a" * 2**21}), "too_large: record: expected at most 262144 bytes"),
}


@pytest.mark.parametrize("kind", REFUSED_LINES)
def test_a_refused_line_says_what_was_expected_and_its_neighbours_load(tmp_path: Path, kind: str) -> None:
    refused, words = REFUSED_LINES[kind]
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b"\n".join((json_line(TURN), refused, json_line(TURN | {"turn_id": "T-3"}))))
    (_, before), (line, said), (_, after) = turns_of(path)
    assert (line, str(said)[: len(words)]) == (2, words)
    assert isinstance(before, Turn)
    assert isinstance(after, Turn)
    assert after.turn_id == "T-3"


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", BOM])
def test_a_line_at_its_cap_is_taken_and_one_byte_more_is_not(tmp_path: Path, end: bytes, bom: bytes) -> None:
    path = tmp_path / "turns.jsonl"
    row = json_line(TURN)
    path.write_bytes(bom + row + end)
    assert isinstance(only(path, Caps(len(row), 1)), Turn)
    assert only(path, Caps(len(row) - 1, 1)) == f"too_large: record: expected at most {len(row) - 1} bytes"


def test_a_line_cut_off_at_the_cap_does_not_run_into_the_next(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b" " * 5000 + json_line(TURN) + b"\n" + json_line(TURN))
    (first, said), (second, turn) = turns_of(path, Caps(200, 1))
    assert (first, said) == (1, "too_large: record: expected at most 200 bytes")
    assert (second, isinstance(turn, Turn)) == (2, True)


HEADER = (
    "turn_id,session_id,character_id,model_id,user_message,reply_text,first_person,named_entities,user_asked_recall"
)
CELLS = ("user_message", "reply_text", "first_person", "named_entities", "user_asked_recall")
GOOD_CELLS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "empty is null": (",,,,", (None, None, None, None, None)),
    "text": ("무슨 일?,그래.,나,[],false", ("무슨 일?", "그래.", "나", [], False)),
    "space is kept": (" , 그래. ,나,,", (" ", " 그래. ", "나", None, None)),
    "quoted": ('"a, ""b""","1\n2","",,', ('a, "b"', "1\n2", None, None, None)),
    "JSON list": ('x,y,z,"[""하늘"", "" 별""]",TRUE', ("x", "y", "z", ["하늘", " 별"], True)),
    "bars": ("x,y,z,하늘 | 검술원,True", ("x", "y", "z", ["하늘", "검술원"], True)),
    "one name": ("x,y,z,하늘,False", ("x", "y", "z", ["하늘"], False)),
    "numbers stay text": ("1,2,3,4,", ("1", "2", "3", ["4"], None)),
}


@pytest.mark.parametrize("kind", GOOD_CELLS)
def test_csv_cells(tmp_path: Path, kind: str) -> None:
    cells, wanted = GOOD_CELLS[kind]
    path = tmp_path / "TURNS.CSV"
    path.write_text(f"{HEADER}\nT-1,S,C,m,{cells}\n", encoding="utf-8", newline="")
    turn = only(path)
    assert isinstance(turn, Turn)
    assert tuple(getattr(turn, name) for name in CELLS) == wanted


REFUSED_CELLS = {
    "empty id": ("T-1,,C,m,,,,,", "schema_invalid: session_id: expected string"),
    "blank id": ("T-1, ,C,m,,,,,", "schema_invalid: session_id: expected text that is not blank"),
    "not a flag": ("T-1,S,C,m,,,,,yes", "schema_invalid: user_asked_recall: expected boolean or null"),
    "list cut short": ('T-1,S,C,m,,,,"[""a"",",', "schema_invalid: named_entities: expected array or null"),
    "list of numbers": ("T-1,S,C,m,,,,[1],", "schema_invalid: named_entities[0]: expected string"),
    "deep list": (f"T-1,S,C,m,,,,{'[' * 2000},", "schema_invalid: named_entities: expected array or null"),
    "too many names": (f"T-1,S,C,m,,,,{'|' * 256},", "too_large: named_entities: expected at most 256 names"),
    "few cells": ("T-1,S,C,m", "schema_invalid: row: expected 9 cells, as many as the header has"),
    "many cells": ("T-1,S,C,m,,,,,,", "schema_invalid: row: expected 9 cells, as many as the header has"),
    "quote in a quoted cell": ('T-1,S,C,m,"a"b,,,,', QUOTES),
    "long": (f"T-1,S,C,m,,{'a' * 262000},{'b' * 400},,", "too_large: record: expected at most 262144 bytes"),
    "long cell": (f"T-1,S,C,m,,{'a' * 2**21},,,", "too_large: record: expected at most 262144 bytes"),
}


@pytest.mark.parametrize("kind", REFUSED_CELLS)
def test_a_refused_csv_row_says_what_was_expected_and_its_neighbours_load(tmp_path: Path, kind: str) -> None:
    row, words = REFUSED_CELLS[kind]
    path = tmp_path / "turns.csv"
    path.write_text(f'{HEADER}\nT-0,S,C,m,"two\nlines",,,,\n\n{row}\nT-2,S,C,m,,,,,\n', encoding="utf-8")
    (first, before), (line, said), (last, after) = turns_of(path)
    assert (first, line, last) == (2, 5, 6)
    assert said == words
    assert isinstance(before, Turn)
    assert isinstance(after, Turn)


def test_a_quote_never_closed_is_one_refused_row_where_it_starts(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    path.write_text(f'{HEADER}\nT-0,S,C,m,,,,,\nT-1,S,C,m,"open\nT-2,S,C,m,,,,,\n', encoding="utf-8")
    assert turns_of(path)[1:] == [(3, QUOTES)]


@pytest.mark.parametrize(
    ("encoding", "notices"),
    [("utf-8", []), ("utf-8-sig", []), ("cp949", ["{path}: not UTF-8, read as CP949"])],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_csv_encodings(tmp_path: Path, encoding: str, notices: list[str], newline: str) -> None:
    path = tmp_path / "turns.csv"
    text = f"{HEADER}{newline}T-1,S,C,m,똠방각하 펲시,,,하늘,{newline}"
    path.write_bytes(text.encode(encoding))
    said: list[str] = []
    with turn_file(str(path), CAPS, said.append) as turns:
        twice = [list(turns.rows()) for _ in range(2)]
    [(line, value)] = twice[0]
    assert twice[0] == twice[1]
    assert isinstance(value, bytes)
    turn = decode_turn(value, CAPS)
    assert isinstance(turn, Turn)
    assert (line, turn.user_message, turn.named_entities) == (2, "똠방각하 펲시", ["하늘"])
    assert said == [notice.format(path=path) for notice in notices]


def test_a_csv_row_of_other_bytes_is_refused_alone(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    row = "T-1,S,C,m,가,,,,"
    path.write_bytes(f"{HEADER}\n{row}\n".encode() + b"T-2,S,C,m,\xff,,,,\n" + f"{row}\n".encode())
    (_, before), refused, (_, after) = turns_of(path)
    assert refused == (3, "malformed: row: expected UTF-8")
    assert isinstance(before, Turn)
    assert before == after


@pytest.mark.parametrize("content", ["", "\n\n", HEADER, f"{HEADER}\n\n"])
def test_a_csv_without_rows_is_a_file_of_no_rows(tmp_path: Path, content: str) -> None:
    path = tmp_path / "turns.csv"
    path.write_text(content, encoding="utf-8")
    assert turns_of(path) == []


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("turn_id,reply_text", "the header lacks session_id, character_id, model_id"),
        ("turn_id;session_id;character_id;model_id", "the header lacks turn_id, session_id, character_id, model_id"),
        (f"{HEADER},reply_text", "the header names reply_text more than once"),
        ('turn_id,"a"b', "the header cannot be read: row: expected CSV whose quoted cells are closed and"),
    ],
)
def test_a_csv_header_that_is_wrong_is_the_operators_error(tmp_path: Path, header: str, words: str) -> None:
    path = tmp_path / "turns.csv"
    path.write_text(f"{header}\n", encoding="utf-8")
    with pytest.raises(OperatorError) as error:
        turns_of(path)
    assert str(error.value).startswith(f"{path}: {words}")


def test_a_csv_header_may_stand_in_any_order_with_columns_of_others(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    path.write_text("note, model_id ,character_id,note,turn_id,session_id\nx,m,C,y,T-1,S\n", encoding="utf-8")
    assert only(path) == Turn("T-1", "S", "C", "m")


def test_a_csv_cell_may_be_as_long_as_a_record(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    path.write_text(f"{HEADER}\nT-1,S,C,m,,{'a' * 250_000},,,\n", encoding="utf-8")
    turn = only(path)
    assert isinstance(turn, Turn)
    assert len(turn.reply_text or "") == 250_000


def test_csv_reads_every_column_of_the_schemas_and_no_other() -> None:
    for table, columns in (
        ("chat_turn", TURN_COLUMNS),
        ("character_card", CARD_COLUMNS),
        ("topic_lexicon", LEXICON_COLUMNS),
    ):
        assert set(columns.cells) == COLUMNS[table]
        assert set(columns.required) < COLUMNS[table]


def test_cards_load_and_refusals_name_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "cards.jsonl"
    rows = [
        CARD,
        CARD | {"character_id": "D", "honorific_rule": "해요체"},
        CARD | {"character_id": "D"},
        CARD | {"first_person": "나"},
        CARD | {"character_id": "E", "profile": "other"},
        CARD | {"character_id": "F", "entity_roles": [{"role": "형"}]},
        CARD | {"character_id": "G", "canon_entities": [" "]},
        CARD | {"character_id": "H", "profile": "seed"},
    ]
    path.write_bytes(b"\n".join(map(json_line, rows)))
    cards = read_cards(str(path), CAPS, pytest.fail)
    assert [card.character_id for card in cards.records] == ["C", "D", "H"]
    assert [str(refused).removeprefix(f"{path}:") for refused in cards.refused] == [
        "2: schema_invalid: honorific_rule: expected one of 반말, 존댓말",
        "4: schema_invalid: character_id: expected once in a file, first on line 1",
        "5: schema_invalid: profile: expected one of extended, seed",
        "6: schema_invalid: entity_roles[0].entity: expected to be there",
        "7: schema_invalid: canon_entities[0]: expected text that is not blank",
    ]


def test_cards_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "cards.csv"
    path.write_text(
        "character_id,honorific_rule,first_person,canon_entities,forbidden_topics,entity_roles\n"
        "A,반말,,[],[],[]\n"
        "B,존댓말,저,하늘|별,현실 정치,동생=하늘| 스승 = 별\n"
        'C,반말,나,"[""가|나""]",[],"[{""role"": ""형"", ""entity"": ""가|나""}]"\n'
        "D,반말,,,[],[]\n"
        "E,반말,,[],[],동생\n"
        "F,반말,,하늘|,[],[]\n",
        encoding="utf-8",
    )
    cards = read_cards(str(path), CAPS, pytest.fail)
    assert [(card.canon_entities, card.forbidden_topics) for card in cards.records] == [
        ((), ()),
        (("하늘", "별"), ("현실 정치",)),
        (("가|나",), ()),
    ]
    assert [[tuple(role) for role in card.entity_roles] for card in cards.records] == [
        [],
        [("동생", "하늘"), ("스승", "별")],
        [("형", "가|나")],
    ]
    assert [f"{refused.line}: {refused.refusal.detail}" for refused in cards.refused] == [
        "5: canon_entities: expected array",
        "6: entity_roles[0].entity: expected to be there",
        "7: canon_entities[1]: expected text that is not blank",
    ]


def entry(term: str, topic: str = "내기", **more: Any) -> dict[str, Any]:
    return {"term": term, "topic": topic} | more


LEXICONS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, int]], list[str]]] = {
    "positions": ([entry("가", position=5), entry("나", position=-1)], [("가", 5), ("나", -1)], []),
    "equal positions": ([entry("가", position=1), entry("나", position=1)], [("가", 1), ("나", 1)], []),
    "none": ([entry("가"), entry("나"), entry("다", position=None)], [("가", 1), ("나", 2), ("다", 3)], []),
    "none, one refused": (
        [entry("가"), entry(" "), entry("다")],
        [("가", 1), ("다", 3)],
        ["2: term: expected text that is not blank"],
    ),
    "some": (
        [entry("가"), entry("나", position=2), entry("다")],
        [("나", 2)],
        ["1: position: expected to be there", "3: position: expected to be there"],
    ),
    "wrong type": ([entry("가", position="1")], [], ["1: position: expected integer"]),
    "whole as a fraction": ([entry("가", position=2.0)], [("가", 2)], []),
    "fraction": ([entry("가", position=1.5)], [], ["1: position: expected integer"]),
    "too wide": (
        [entry("가", position=2**63), entry("나", position=-(2**63)), entry("다", position=10**30)],
        [("나", -(2**63))],
        ["1: position: expected a whole number of 64 bits", "3: position: expected a whole number of 64 bits"],
    ),
    "several topics": ([entry("가"), entry("가", "광고")], [("가", 1), ("가", 2)], []),
    "twice": (
        [entry("가", position=1), entry("나", position=2), entry(unicodedata.normalize("NFD", "가"), position=3)],
        [("가", 1), ("나", 2)],
        ["3: term, topic: expected once in a file, first on line 1"],
    ),
    "mode": (
        [entry("가", mode="word"), entry("나", mode="every"), {"term": "다", "topic": "라", "except": [""]}],
        [("가", 1)],
        ["2: mode: expected one of word, any, null", "3: except[0]: expected text that is not blank"],
    ),
    "empty": ([], [], []),
}


@pytest.mark.parametrize("kind", LEXICONS)
def test_lexicons(tmp_path: Path, kind: str) -> None:
    rows, taken, refused = LEXICONS[kind]
    path = tmp_path / "lexicon.jsonl"
    path.write_bytes(b"\n".join(map(json_line, rows)))
    lexicon = read_lexicon(str(path), CAPS, pytest.fail)
    assert [(record.term, record.position) for record in lexicon.records] == taken
    assert [f"{row.line}: {row.refusal.detail}" for row in lexicon.refused] == refused
    assert {row.refusal.reason for row in lexicon.refused} <= {Reason.SCHEMA_INVALID}


@pytest.mark.parametrize(
    ("text", "taken", "refused"),
    [
        ("term,topic\n가,내기\n나,내기\n", [1, 2], []),
        ("term,topic,position\n가,내기,\n나,내기,\n", [1, 2], []),
        ("term,topic,position\n가,내기,7\n나,내기, -3\n", [7, -3], []),
        ("term,topic,position\n가,내기,7\n나,내기,\n", [7], ["3: position: expected integer"]),
        (
            "term,topic,position\n가,내기,7.0\n나,내기,1e2\n",
            [],
            ["2: position: expected integer", "3: position: expected integer"],
        ),
        (f"term,topic,position\n가,내기,{'9' * 5000}\n", [], ["2: position: expected integer"]),
        ("position,term,topic,mode,except\n3,가,내기,any,가나|가다\n", [3], []),
    ],
)
def test_lexicons_in_csv(tmp_path: Path, text: str, taken: list[int], refused: list[str]) -> None:
    path = tmp_path / "lexicon.csv"
    path.write_text(text, encoding="utf-8")
    lexicon = read_lexicon(str(path), CAPS, pytest.fail)
    assert [record.position for record in lexicon.records] == taken
    assert [f"{row.line}: {row.refusal.detail}" for row in lexicon.refused] == refused


def test_a_refusal_never_shows_a_value(tmp_path: Path) -> None:
    told = "비밀말"
    row = {
        "turn_id": [told],
        "session_id": {told: told},
        "character_id": 1,
        "reply_text": [told],
        told: told,
    }
    path = tmp_path / "turns.jsonl"
    path.write_bytes(json_line(row) + b"\n" + f'{{"reply_text": "{told}"'.encode())
    said = [str(words) for _, words in turns_of(path)]
    assert all(words.startswith(("schema_invalid: ", "malformed: ")) for words in said)
    assert told not in "".join(said)


@pytest.mark.parametrize("read", [read_cards, read_lexicon, lambda *arguments: list(read_turns(*arguments))])
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_file_that_cannot_be_read_is_the_operators_error(tmp_path: Path, read: Any, suffix: str) -> None:
    folder = tmp_path / f"folder.{suffix}"
    folder.mkdir()
    for path, words in ((tmp_path / f"absent.{suffix}", "No such file or directory"), (folder, "Is a directory")):
        with pytest.raises(OperatorError) as error:
            read(str(path), CAPS, pytest.fail)
        assert str(error.value) == f"{path}: {words}"


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_pipe_can_be_read_twice(tmp_path: Path, suffix: str) -> None:
    pipe = tmp_path / f"pipe.{suffix}"
    os.mkfifo(pipe)
    content = json_line(TURN) if suffix == "jsonl" else b"turn_id,session_id,character_id,model_id\nT-1,S,C,m\n"
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    with turn_file(str(pipe), CAPS, pytest.fail) as turns:
        first, second = list(turns.rows()), list(turns.rows())
    writer.join()
    assert first == second
    assert len(first) == 1
