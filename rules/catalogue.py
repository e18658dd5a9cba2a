"""The checks in precedence order: the first that holds is the verdict (spec 000, order of judging)."""

from typing import Any, Final

from rules.check import Check
from rules.checks.forbidden_topic import FORBIDDEN_TOPIC
from rules.checks.off_canon_name import OFF_CANON_NAME
from rules.checks.recall import RECALL
from rules.checks.speech_level import SPEECH_LEVEL

CHECKS: Final[tuple[Check[Any], ...]] = (
    FORBIDDEN_TOPIC,
    OFF_CANON_NAME,
    SPEECH_LEVEL,
    RECALL,
)
