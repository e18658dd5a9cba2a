"""Profiles by name: the tables of `seed` from the rules, those of `extended` from the files beside this module."""

from pathlib import Path
from typing import Final

from rules.profile import EXTENDED_NAME, PROFILE_NAMES, SEED
from schemas.profile import ExtendedProfile, Profile
from service.profiles.tables import shipped
from service.profiles.words import changed, read_words

AnyProfile = Profile | ExtendedProfile
KNOWN: Final = frozenset(PROFILE_NAMES)


def read_profiles(default: str, file: Path | None = None) -> tuple[AnyProfile, ...]:
    """Return every profile, the default by name first; the words of a profile file change `extended`.

    Raises:
        OperatorError: the file cannot be read, or is not a profile file; the line names file, line, field and what was
            expected there.
    """
    extended = read_extended(file)
    return (extended, SEED) if default == EXTENDED_NAME else (SEED, extended)


def read_extended(file: Path | None = None) -> ExtendedProfile:
    """Return the `extended` profile, changed by the words of a profile file.

    Raises:
        OperatorError: as `read_profiles`.
    """
    tables = shipped()
    return tables if file is None else changed(tables, read_words(file))
