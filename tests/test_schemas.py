import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rules.text import is_blank
from schemas.card import Card, CharacterCard
from schemas.export import RECORDS, committed, schema_of, text_of
from schemas.fields import NON_BLANK_PATTERN
from schemas.hedge import HedgeCode
from schemas.lexicon import Entry, TopicLexiconRow
from schemas.refusal import Reason
from schemas.turn import ChatTurn, Turn
from schemas.validate import MOST_PROBLEMS, RecordSchema
from schemas.verdict import COLUMNS, IDENTITY_KEYS, VERDICT_KEYS, Verdict, VerdictRecord, VerdictWord
from services import ROOT

SCHEMAS: Final = {name: RecordSchema(name) for name in RECORDS}
BLANKS = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]

blank_texts = st.text(st.sampled_from(BLANKS), max_size=3)
any_texts = st.text(st.characters(codec="utf-8"), max_size=6)
texts = st.one_of(any_texts, blank_texts)
numbers = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, 1, 1.0, -0.0, 1.5, 1e300, 10**30]),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit a schema of the few words that ours use."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    words = st.tuples(texts, st.sampled_from("가x1\u200b?"), texts).map("".join) if "pattern" in schema else texts
    made: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "null": st.none,
        "boolean": st.booleans,
        "number": lambda: numbers,
        "integer": lambda: st.integers(min_value=schema.get("minimum")),
        "string": lambda: words,
        "array": lambda: st.lists(fitting(schema["items"]), min_size=schema.get("minItems", 0), max_size=3),
        "object": lambda: fitting_rows(schema),
    }
    return st.one_of(*(made[kind]() for kind in kinds))


def fitting_rows(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Rows that fit a schema; what is not required is there or not, and so is a field that nobody knows."""
    fields = {name: fitting(field) for name, field in schema["properties"].items()}
    needed = schema.get("required", ())
    required = {name: field for name, field in fields.items() if name in needed}
    optional = {name: field for name, field in fields.items() if name not in needed}
    return st.fixed_dictionaries(required, optional=optional | {"note": values})


@st.composite
def rows_of(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    """Rows that fit, rows with something wrong in one place, and now and then anything at all."""
    kind = draw(st.sampled_from(["fits", "wrong", "wrong", "within", "gone", "anything"]))
    row: Any = draw(values if kind == "anything" else fitting_rows(schema))
    name = draw(st.sampled_from(list(schema["properties"])))
    if kind == "wrong":
        row[name] = draw(values)
    elif kind == "gone":
        row.pop(name, None)
    elif kind == "within" and row.get(name) and isinstance(row[name], list):
        place = draw(st.integers(0, len(row[name]) - 1))
        inner = schema["properties"][name]["items"]
        row[name][place] = draw(rows_of(inner) if "properties" in inner else values)
    return row


def pydantic_takes(name: str, row: Any) -> bool:
    try:
        RECORDS[name].model_validate(row)
    except ValidationError:
        return False
    return True


def has_whole_fraction(value: Any, schema: dict[str, Any]) -> bool:
    """Tell whether a value has a 1.0 where its schema has an integer."""
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        return any(has_whole_fraction(value[name], field) for name, field in fields.items() if name in value)
    if isinstance(value, list):
        return any(has_whole_fraction(each, schema.get("items", {})) for each in value)
    return "integer" in schema.get("type", ()) and isinstance(value, float) and value.is_integer()


@pytest.mark.parametrize("name", RECORDS)
@settings(max_examples=300)
@given(data=st.data())
def test_the_three_validators_agree(name: str, data: st.DataObject) -> None:
    row = data.draw(rows_of(committed(name)))
    schema = SCHEMAS[name]
    taken = schema.reference.is_valid(row)
    assert schema.is_valid(row) is taken
    assert (next(schema.problems(row), None) is None) is taken
    # The one known difference: to JSON Schema, and to the readers here, 1.0 is an integer; to pydantic it is not.
    assume(not has_whole_fraction(row, committed(name)))
    assert pydantic_takes(name, row) is taken


def test_a_whole_number_written_as_a_fraction_is_the_known_difference() -> None:
    row = {"term": "가", "topic": "나", "position": 1.0}
    schema = SCHEMAS["topic_lexicon"]
    assert schema.is_valid(row)
    assert schema.reference.is_valid(row)
    assert not pydantic_takes("topic_lexicon", row)


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("number", [float("inf"), -float("inf"), 10**400], ids=["inf", "-inf", "10**400"])
def test_numbers_wider_than_a_double_never_raise(name: str, number: float) -> None:
    schema = SCHEMAS[name]
    for row in (number, {"note": number}, *({field: number} for field in committed(name)["properties"])):
        assert schema.is_valid(row) is schema.reference.is_valid(row)


@pytest.mark.parametrize("name", RECORDS)
def test_the_generated_rows_are_of_both_kinds(name: str) -> None:
    taken: set[bool] = set()

    @given(rows_of(committed(name)))
    def look(row: Any) -> None:
        taken.add(SCHEMAS[name].is_valid(row))

    look()
    assert taken == {True, False}


def test_the_committed_schemas_are_what_the_models_export() -> None:
    folder = ROOT / "schemas" / "json"
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{name}.v1.json" for name in RECORDS)
    for name, model in RECORDS.items():
        assert (folder / f"{name}.v1.json").read_text(encoding="utf-8") == text_of(model)
        assert committed(name) == schema_of(model)


def test_the_verdict_schema_is_the_published_one_in_meaning_and_key_order(shared: Path) -> None:
    published = json.loads((shared / "fixtures" / "seed" / "verdict.schema.json").read_text(encoding="utf-8"))
    assert json.dumps(committed("verdict")) == json.dumps(published)
    assert tuple(published["properties"]) == VERDICT_KEYS


def test_rows_and_records_have_the_same_columns_in_the_same_order() -> None:
    for model, record in ((ChatTurn, Turn), (CharacterCard, Card), (TopicLexiconRow, Entry)):
        assert tuple(model.model_fields) == record._fields
    assert tuple(Verdict.model_fields) == tuple(VerdictRecord.__annotations__)
    assert Turn._fields[:4] == IDENTITY_KEYS
    assert {name: set(committed(name)["properties"]) for name in COLUMNS} == {
        name: set(at) for name, at in COLUMNS.items()
    }


def test_the_closed_lists_are_the_designs(shared: Path) -> None:
    design = (shared / "design.md").read_text(encoding="utf-8")
    words = ("금지 소재 접촉", "세계관 밖 고유명사", "말투 어긋남", "앞 회차를 기억 못 함", "설정대로 말함")
    precedence = " → ".join(f"`{word}`" for word in words)
    assert precedence in design
    assert set(words) == {word.value for word in VerdictWord}
    assert f"(closed list: {', '.join(Reason)})" in design
    assert len(HedgeCode) == 15


def test_blank_is_what_python_calls_white_space() -> None:
    holds = re.compile(NON_BLANK_PATTERN).search
    assert len(BLANKS) > 20
    for code in (*range(0xD800), *range(0xE000, sys.maxunicode + 1)):
        assert (holds(chr(code)) is None) is chr(code).isspace()
    assert is_blank("".join(BLANKS))
    assert [is_blank(text) for text in (None, "", " ", "\u200b", "가")] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        ("chat_turn", [], "row: expected object"),
        ("chat_turn", {}, "turn_id, session_id, character_id, model_id: expected to be there"),
        (
            "chat_turn",
            {
                "turn_id": 1,
                "session_id": " ",
                "character_id": "c",
                "model_id": "m",
                "named_entities": [None],
                "user_asked_recall": 0,
            },
            "named_entities[0]: expected string; session_id: expected text that is not blank; "
            "turn_id: expected string; user_asked_recall: expected boolean or null",
        ),
        (
            "character_card",
            {
                "character_id": "c",
                "honorific_rule": "",
                "canon_entities": [],
                "forbidden_topics": None,
                "entity_roles": [{"role": 1}],
            },
            "entity_roles[0].entity: expected to be there; entity_roles[0].role: expected string; "
            "forbidden_topics: expected array; honorific_rule: expected one of 반말, 존댓말",
        ),
        (
            "topic_lexicon",
            {"term": "가", "topic": "나", "position": 1.5, "mode": "x", "except": [""]},
            "except[0]: expected text that is not blank; mode: expected one of word, any, null; "
            "position: expected integer",
        ),
    ],
)
def test_problems_name_field_and_expectation(name: str, row: Any, said: str) -> None:
    assert "; ".join(map(str, SCHEMAS[name].problems(row))) == said


def test_of_very_many_problems_a_few_are_named() -> None:
    row = dict.fromkeys(IDENTITY_KEYS, "x") | {"named_entities": [1] * 10_000}
    assert len(list(SCHEMAS["chat_turn"].problems(row))) == MOST_PROBLEMS
