"""Prompts that several models answered: which answers belong together (issue 6, item 2). No I/O."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rules.text import is_blank, natural_key
from schemas.nfc import nfc
from schemas.turn import Turn
from service.evaluate.judging import Judged
from service.files.readers import Refused

# A prompt: how it was told, by what, and for which character.
Key = tuple[str, str, str]
BY_ID: Final = "prompt_id"
BY_MESSAGE: Final = "user_message"


class Prompt(NamedTuple):
    """A prompt that every model answered, with the answer of each in the order of the models."""

    key: Key
    answers: tuple[Judged, ...]

    @property
    def words(self) -> tuple[str | None, ...]:
        """The verdict of each answer, None where it has none."""
        return tuple(answer.word for answer in self.answers)


class Pairing(NamedTuple):
    """The prompts that can be compared, and how many turns were left out and why; `seen` are all models of the file."""

    models: tuple[str, ...]
    seen: frozenset[str]
    prompts: tuple[Prompt, ...]
    left_out: Counter[str]
    partly: tuple[tuple[Key, tuple[str, ...]], ...]
    unread: tuple[Refused, ...]


OTHER_MODEL: Final = "고르지 않은 모델의 회차"
NO_PROMPT: Final = "prompt_id도 유저 메시지도 없는 회차"
AGAIN: Final = "같은 모델이 같은 프롬프트에 다시 답한 회차"
PARTLY: Final = "모든 모델이 답하지는 않은 프롬프트의 회차"


def paired(rows: Iterable[Judged | Refused], wanted: Sequence[str]) -> Pairing:
    """Put the answers to one prompt together.

    A prompt is its `prompt_id` where the turn has one, else the user's message after NFC; for one character. Of several
    answers by one model the first in natural order of turn_id counts. Without `wanted` all models of the file count.
    """
    answers: dict[Key, dict[str, Judged]] = {}
    left_out: Counter[str] = Counter()
    unread: list[Refused] = []
    models: set[str] = set()
    for row in rows:
        if isinstance(row, Refused):
            unread.append(row)
            continue
        model = row.identity.model_id
        models.add(model)
        key = prompt_of(row.turn)
        if wanted and model not in wanted:
            left_out[OTHER_MODEL] += 1
        elif key is None:
            left_out[NO_PROMPT] += 1
        else:
            left_out[AGAIN] += _keep_first(answers.setdefault(key, {}), model, row)
    chosen = tuple(dict.fromkeys(wanted)) or tuple(sorted(models))
    prompts = []
    partly = []
    for key, by_model in answers.items():
        if len(by_model) == len(chosen):
            prompts.append(Prompt(key, tuple(by_model[model] for model in chosen)))
        else:
            left_out[PARTLY] += len(by_model)
            partly.append((key, tuple(model for model in chosen if model in by_model)))
    return Pairing(chosen, frozenset(models), tuple(prompts), +left_out, tuple(partly), tuple(unread))


def prompt_of(turn: Turn | None) -> Key | None:
    """Return the prompt a turn answers, or None where nothing tells it."""
    if turn is None:
        return None
    if turn.prompt_id is not None and not is_blank(turn.prompt_id):
        return BY_ID, turn.prompt_id, turn.character_id
    if turn.user_message is None:
        return None
    return BY_MESSAGE, nfc(turn.user_message), turn.character_id


def _keep_first(by_model: dict[str, Judged], model: str, row: Judged) -> int:
    known = by_model.get(model)
    if known is None or _order(row) < _order(known):
        by_model[model] = row
    return known is not None


def _order(row: Judged) -> tuple[object, int]:
    return natural_key(row.identity.turn_id), row.line
