"""A profile file with the endings that reviewers added: TOML, as `--profile-file` takes it (issue 5, item 2)."""

import tomllib
from collections.abc import Iterable, Iterator
from typing import Final

from pydantic import BaseModel, ValidationError

from schemas.profile import ExtendedProfile
from schemas.words import AddedEnding, UserWords
from service.profiles.tables import shipped
from service.profiles.words import changed

LEVELS: Final = ("존댓말", "반말", "하오체", "불명")
_LONGEST: Final = 16


def ending(form: str, level: str) -> AddedEnding | None:
    """Return an ending as a profile file takes it; None where the form is not Hangul syllables, at most 16."""
    try:
        found = AddedEnding.model_validate({"form": form.strip(), "level": level})
    except ValidationError:
        return None
    return found if len(found.form) <= _LONGEST else None


def with_endings(words: UserWords, endings: Iterable[AddedEnding]) -> UserWords:
    """Put endings behind those of a profile file; of two with one form the later counts, and what is put in is in."""
    by_form = {each.form: each for each in (*words.endings.add, *endings)}
    removed = [form for form in words.endings.remove if form not in by_form]
    return words.model_copy(
        update={"endings": words.endings.model_copy(update={"add": list(by_form.values()), "remove": removed})}
    )


def profile_of(words: UserWords) -> ExtendedProfile:
    """Return the `extended` profile with a creator's words."""
    return changed(shipped(), words)


def toml_of(words: UserWords) -> str:
    """Return a profile file; reading it again gives the same words.

    Raises:
        ValueError: it would not, which is ours to mend.
    """
    text = "\n\n".join(
        "\n".join([f"[{name}]", *rows])
        for name in UserWords.model_fields
        if (rows := list(_rows(getattr(words, name))))
    )
    text += "\n" if text else ""
    if UserWords.model_validate(tomllib.loads(text)) != words:
        raise ValueError("a profile file must be read as it was written")
    return text


def _rows(table: BaseModel) -> Iterator[str]:
    for name, values in table.model_dump().items():
        if values:
            yield f"{name} = ["
            yield from (f"    {_value(each)}," for each in values)
            yield "]"


def _value(value: object) -> str:
    """Write a value of TOML; every word is of Hangul syllables, so that nothing in it is escaped."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    return f'"{value}"'
