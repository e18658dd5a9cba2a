"""Export the wire records as JSON Schemas: `python -m schemas.export` rewrites `schemas/json/`."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from schemas.card import CharacterCard
from schemas.lexicon import TopicLexiconRow
from schemas.oracle import OracleAnswer, OracleCase, OracleOutput
from schemas.spike import Spike
from schemas.summary import TurnSummary
from schemas.turn import ChatTurn
from schemas.verdict import Verdict

# Every record, by the name of its schema.
RECORDS: Final[dict[str, type[BaseModel]]] = {
    "chat_turn": ChatTurn,
    "character_card": CharacterCard,
    "topic_lexicon": TopicLexiconRow,
    "verdict": Verdict,
    "oracle_case": OracleCase,
    "oracle_output": OracleOutput,
    "oracle_answer": OracleAnswer,
    "turn_summary": TurnSummary,
    "spike": Spike,
}
# The keys of a schema, in the order that the published ones have; what pydantic writes besides is left out.
KEY_ORDER: Final = ("type", "properties", "enum", "pattern", "minimum", "minItems", "items", "required", "description")

Schema = dict[str, Any]


def schema_of(model: type[BaseModel]) -> Schema:
    """Return the JSON Schema of a record: no references, nullable as a list of types, keys in the published order."""
    exported = model.model_json_schema(by_alias=True)
    schema: Schema = _plain(exported, exported.get("$defs", {}))
    return schema


def _plain(node: Any, definitions: Schema) -> Any:
    if "$ref" in node:
        return _plain(definitions[node["$ref"].rsplit("/", 1)[1]], definitions)
    if "anyOf" in node:
        node = {**_union([_plain(member, definitions) for member in node["anyOf"]]), **_described(node)}
    kept = {key: node[key] for key in KEY_ORDER if key in node}
    if "properties" in kept:
        kept.pop("description", None)  # the model's docstring is for readers of the code
        kept["properties"] = {name: _plain(field, definitions) for name, field in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _plain(kept["items"], definitions)
    return kept


def _described(node: Schema) -> Schema:
    return {key: node[key] for key in ("description",) if key in node}


def _union(members: list[Schema]) -> Schema:
    merged: Schema = {}
    for member in members:
        merged.update(member)
    merged["type"] = [member["type"] for member in members]
    if "enum" in merged:
        merged["enum"] = [*merged["enum"], None]
    return merged


def text_of(model: type[BaseModel]) -> str:
    """Return the committed text of a record's JSON Schema."""
    return json.dumps(schema_of(model), ensure_ascii=False, indent=2) + "\n"


def committed_text(name: str) -> str:
    """Read the text of a frozen v1 schema by record name (a key of `RECORDS`)."""
    return files("schemas").joinpath(f"json/{name}.v1.json").read_text(encoding="utf-8")


def committed(name: str) -> Schema:
    """Read a frozen v1 schema by record name."""
    schema: Schema = json.loads(committed_text(name))
    return schema


def main() -> None:
    """Write every schema beside this module."""
    folder = Path(__file__).parent / "json"
    for name, model in RECORDS.items():
        (folder / f"{name}.v1.json").write_text(text_of(model), encoding="utf-8")


if __name__ == "__main__":
    main()
