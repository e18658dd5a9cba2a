"""Prompts that several models answered: which rows belong to one, and what each model made of it (issue 8, item 6).

A turn's prompt is what `turnjudge compare-models` takes for it: its `prompt_id`, else, for the same character, the
user's message. The message tells it only in files, where somebody gave one prompt to several models; two live chats
that begin with the same words are not one prompt.
"""

from typing import Final, NamedTuple

import orjson
from sqlalchemy import Connection
from sqlalchemy import text as sql

from schemas.turn import Turn
from schemas.verdict import VerdictWord
from service.digest import hashed
from service.evaluate.prompts import BY_ID, prompt_of
from service.review.store.keeping import kept

# Of several answers by one model the first in natural order of turn_id counts, as in `compare-models`.
_ANSWERS: Final = """
    SELECT answers, COUNT(*) FROM (
        SELECT prompt_key, {listed} AS answers FROM (
            SELECT prompt_key, model_id, verdict, ROW_NUMBER() OVER (
                PARTITION BY prompt_key, model_id ORDER BY turn_key, place
            ) AS number
            FROM turn_rows WHERE place IS NOT NULL AND prompt_key IS NOT NULL {of}
        ) AS every WHERE number = 1 GROUP BY prompt_key HAVING COUNT(*) > 1
    ) AS prompt GROUP BY answers
"""
_LISTED: Final = {
    "sqlite": "JSON_GROUP_ARRAY(JSON_ARRAY(model_id, verdict))",
    "postgresql": "CAST(JSON_AGG(JSON_BUILD_ARRAY(model_id, verdict)) AS text)",
}


class Answered(NamedTuple):
    """Prompts that the same models answered with the same verdicts (None: not judged), and how many they are."""

    verdicts: dict[str, str | None]
    prompts: int


class Shared(NamedTuple):
    """The prompts that every one of some models answered and had judged, and what was left out.

    `mismatched` are the prompts each model did not keep to the card at, in the order of `models`; `only` the prompts
    where of two models, by their places, only the first and only the second did not. `partly` are prompts that some of
    the models did not answer, `unjudged` those where an answer could not be judged.
    """

    models: tuple[str, ...]
    prompts: int
    mismatched: tuple[int, ...]
    only: dict[tuple[int, int], tuple[int, int]]
    partly: int
    unjudged: int


def prompt_key(turn: Turn, *, of_file: bool) -> str | None:
    """Return what the turns that answer one prompt have in common, None where nothing tells a turn's prompt."""
    prompt = prompt_of(turn)
    if prompt is None or not (of_file or prompt[0] == BY_ID):
        return None
    return hashed(*prompt)


def answered(connection: Connection, character: str | None) -> list[Answered]:
    """Return the prompts that at least two models answered, put together by what came of them."""
    of = "" if character is None else "AND character_id = :character"
    statement = sql(_ANSWERS.format(listed=_LISTED[connection.dialect.name], of=of))
    rows = connection.execute(statement, {} if character is None else {"character": kept(character)})
    return [Answered(dict(orjson.loads(answers)), int(prompts)) for answers, prompts in rows]


def models_of(found: list[Answered]) -> tuple[str, ...]:
    """Return the models to compare where nobody chose: those that most prompts have in common.

    Of two sets the one with more models goes first, as long as it has a tenth of the prompts of the other; all that
    answered together somewhere are at least two.
    """
    sets = {frozenset(each.verdicts) for each in found}
    common = {names: sum(each.prompts for each in found if names <= set(each.verdicts)) for names in sets}
    most = max(common.values(), default=0)
    enough = [names for names, prompts in common.items() if prompts * 10 >= most]
    chosen = max(enough, key=lambda names: (len(names), common[names], sorted(names)), default=frozenset())
    return tuple(sorted(chosen))


def shared(found: list[Answered], models: tuple[str, ...]) -> Shared:
    """Compare models on the prompts that all of them answered."""
    mismatched = [0] * len(models)
    pairs = [(first, second) for second in range(len(models)) for first in range(second)]
    only = {pair: [0, 0] for pair in sorted(pairs)}
    prompts = partly = unjudged = 0
    for verdicts, count in found:
        if not set(models) <= set(verdicts):
            partly += count if set(models) & set(verdicts) else 0
            continue
        words = [verdicts[model] for model in models]
        if None in words:
            unjudged += count
            continue
        prompts += count
        wrong = [word != VerdictWord.KEPT.value for word in words]
        mismatched = [sum_ + count * is_wrong for sum_, is_wrong in zip(mismatched, wrong, strict=True)]
        for (first, second), differing in only.items():
            differing[0] += count * (wrong[first] and not wrong[second])
            differing[1] += count * (wrong[second] and not wrong[first])
    return Shared(
        models,
        prompts,
        tuple(mismatched),
        {pair: (one, other) for pair, (one, other) in only.items()},
        partly,
        unjudged,
    )
