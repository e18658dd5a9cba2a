"""The character that `turnjudge canary` speaks as: judged by every worker, and no part of what is told about chats."""

from typing import Final

# No card of this name can be loaded. Page, spikes, summaries and the metrics of verdicts leave its turns out (issue 9).
CANARY_CHARACTER: Final = "turnjudge-canary"
