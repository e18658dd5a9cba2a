"""Read a profile file and put its words into the tables of the `extended` profile."""

import re
import tomllib
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from schemas.profile import Ending, ExtendedProfile, Says
from schemas.words import HANGUL_EXPECTED, EndingChange, KinshipChange, UserWords, WordChange
from service.errors import OperatorError

_SAYS: Final = {"존댓말": Says.POLITE, "반말": Says.PLAIN, "하오체": Says.OLD, "불명": Says.NOTHING}
_TOML_LINE: Final = re.compile(r"\(at line (\d+), column \d+\)")
_EXPECTED: Final = {
    "string_pattern_mismatch": HANGUL_EXPECTED,
    "string_type": "text",
    "list_type": "a list",
    "too_short": "at least one word",
    "literal_error": "one of " + ", ".join(_SAYS),
    "extra_forbidden": "none of that name",
    "missing": "to be there",
    "model_type": "a table",
    "model_attributes_type": "a table",
}


def read_words(file: Path) -> UserWords:
    """Read a profile file (TOML, UTF-8).

    Raises:
        OperatorError: one line with file, line, field and what was expected, never a value.
    """
    try:
        text = file.read_bytes().decode()
        row = tomllib.loads(text)
    except OSError as error:
        raise OperatorError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise OperatorError(f"{file}: expected UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        place = _TOML_LINE.search(str(error))
        line = place[1] if place else str(text.count("\n") + 1)
        raise OperatorError(f"{file}:{line}: expected TOML") from None
    try:
        return UserWords.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])[1:]
    expected = _EXPECTED.get(first["type"], "another value")
    raise OperatorError(f"{file}:{_line(text, first['loc'])}: {field}: expected {expected}")


def _line(text: str, path: tuple[int | str, ...]) -> int:
    """Return the line on which a field begins: the farthest of its names that stands as a table's or a key's."""
    rows = text.splitlines()
    line = start = 0
    for name in (step for step in path if isinstance(step, str)):
        key = rf"""["']?{re.escape(name)}["']?"""
        written = re.compile(rf"\s*(?:\[+\s*{key}\s*[.\]]|{key}\s*[.=]|.*[{{,.]\s*{key}\s*=)")
        line = next((place for place in range(start, len(rows)) if written.match(rows[place])), line)
        start = line
    return line + 1


def changed(tables: ExtendedProfile, words: UserWords) -> ExtendedProfile:
    """Return the tables with a creator's words put in and taken out; a word on both lists is put in."""
    speech, nouns, names, kin = tables.speech, tables.nouns, tables.names, tables.kin
    endings = _endings(speech.endings, words.endings)
    return tables._replace(
        speech=speech._replace(
            endings=_stop_nouns(endings, words.stop_nouns), strong=_without(speech.strong, words.endings.remove)
        ),
        nouns=nouns._replace(common=_list(nouns.common, words.common_nouns)),
        names=names._replace(honorifics=_list(names.honorifics, words.honorifics)),
        kin=kin._replace(classes=_classes(kin.classes, words.kinship)),
    )


def _list(known: tuple[str, ...], change: WordChange) -> tuple[str, ...]:
    return tuple(dict.fromkeys([word for word in known if word not in change.remove] + change.add))


def _endings(known: tuple[Ending, ...], change: EndingChange) -> tuple[Ending, ...]:
    added = tuple(Ending(_SAYS[each.level], (each.form,)) for each in change.add)
    return added + _without(known, change.remove)


def _without(known: tuple[Ending, ...], forms: list[str]) -> tuple[Ending, ...]:
    kept = [row._replace(forms=tuple(form for form in row.forms if form not in forms)) for row in known]
    return tuple(row for row in kept if row.forms or row.words)


def _stop_nouns(known: tuple[Ending, ...], change: WordChange) -> tuple[Ending, ...]:
    removed = frozenset(change.remove)
    rows = [
        row._replace(words=tuple(word for word in row.words if word not in removed))
        if row.says is Says.NOTHING
        else row
        for row in known
    ]
    added = (Ending(Says.NOTHING, words=tuple(change.add)),) if change.add else ()
    return added + tuple(row for row in rows if row.forms or row.words)


def _classes(known: tuple[tuple[str, ...], ...], change: KinshipChange) -> tuple[tuple[str, ...], ...]:
    classes = [[word for word in words if word not in change.remove] for words in known]
    for group in change.add:
        home = next((words for words in classes if set(words) & set(group)), None)
        if home is None:
            classes.append(list(dict.fromkeys(group)))
        else:
            home += [word for word in dict.fromkeys(group) if word not in home]
    return tuple(tuple(words) for words in classes if words)
