"""How a verdict looks: its shape, its shade and its words, so that no verdict differs by colour alone."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from schemas.verdict import VerdictWord


class Face(NamedTuple):
    """A verdict's shape, the name of its shade, and the key of what it means in English."""

    shape: str
    shade: str
    gloss: str


# In the order of precedence (design section 1).
FACES: Final[Mapping[str, Face]] = {
    VerdictWord.FORBIDDEN.value: Face("■", "forbidden", "gloss_forbidden"),
    VerdictWord.OFF_CANON.value: Face("◆", "off_canon", "gloss_off_canon"),
    VerdictWord.SPEECH_BROKEN.value: Face("▲", "speech", "gloss_speech"),
    VerdictWord.FORGOT.value: Face("●", "forgot", "gloss_forgot"),
    VerdictWord.KEPT.value: Face("○", "kept", "gloss_kept"),
}
_NONE: Final = Face("✕", "refused", "")


def face(verdict: str | None) -> Face:
    """Return the face of a verdict, or of a turn that has none."""
    return FACES.get(verdict or "", _NONE)
