"""What is wrong with the shape of a row, in Korean: the schemas' own problems, a column at a time."""

from typing import Any, Final

from schemas.validate import RecordSchema

_LIST_OF_WORDS: Final = "빈칸이 아닌 글의 목록이어야 합니다"
_EXPECTED: Final = {
    "term": "글이어야 하고 비어 있으면 안 됩니다. 낱말을 적거나 줄을 지우세요",
    "topic": "글이어야 하고 비어 있으면 안 됩니다. 낱말이 드는 소재를 적으세요",
    "position": "정수여야 합니다. 순서를 줄 순서대로 두려면 모든 줄에서 비워 두세요",
    "mode": "word, any 가운데 하나이거나 비어 있어야 합니다",
    "except": f"{_LIST_OF_WORDS}. 예: 시발점|시발역",
    "character_id": "글이어야 하고 비어 있으면 안 됩니다",
    "honorific_rule": "반말 또는 존댓말이어야 합니다",
    "first_person": "글이거나 비어 있어야 합니다",
    "canon_entities": f"{_LIST_OF_WORDS}. 이름이 없으면 [] 로 두세요",
    "forbidden_topics": f"{_LIST_OF_WORDS}. 막을 소재가 없으면 [] 로 두세요",
    "entity_roles": '관계어와 이름의 목록이어야 합니다. 예: [{"role": "동생", "entity": "하늘"}], CSV에서는 동생=하늘',
    "profile": "글이거나 비어 있어야 합니다",
}


def shape_problems(row: dict[str, Any], schema: RecordSchema) -> dict[str, str]:
    """Return by column what is wrong with a row, in the order of the schema; columns of nobody are passed over."""
    wrong: dict[str, str] = {}
    if schema.is_valid(row):
        return wrong
    for problem in schema.problems(row):
        for field in problem.field.split(", "):
            column = field.split(".")[0].split("[")[0]
            if column in _EXPECTED:
                wrong.setdefault(column, f"{column} 칸: {_EXPECTED[column]}.")
    return {column: wrong[column] for column in _EXPECTED if column in wrong}
