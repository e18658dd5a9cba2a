"""What a run may use of a model, in requests, tokens and money: reserved before a request, settled after it."""

import threading
from typing import Final, NamedTuple

from service.llm.asking import Spent
from service.llm.settings import LlmSettings
from service.settings import variable_of

# A syllable of Hangul is three bytes and about one token; letters come at three or four to the token.
_BYTES_PER_TOKEN: Final = 3
_MILLION: Final = 1_000_000


class Usage(NamedTuple):
    """Tokens of a prompt and of its answer."""

    prompt_tokens: int
    completion_tokens: int


def estimated_tokens(text: bytes) -> int:
    """Estimate, rather too high than too low, how many tokens a UTF-8 text is."""
    return -(-len(text) // _BYTES_PER_TOKEN)


class Budget:
    """Counts what was spent, and refuses what could pass a limit; thread-safe.

    A request is refused when it and those under way could at most pass a limit, so requests at the same time cannot
    pass it together; where the endpoint counts otherwise than was estimated, the last one may.
    """

    def __init__(self, settings: LlmSettings) -> None:
        """Take limits and prices."""
        self._settings = settings
        self._price_in = (settings.llm_price_in or 0.0) / _MILLION
        self._price_out = (settings.llm_price_out or 0.0) / _MILLION
        self._lock = threading.Lock()
        self._spent = Spent()
        self._under_way = Usage(0, 0)

    @property
    def spent(self) -> Spent:
        """What was spent so far; of requests under way only that they were sent."""
        with self._lock:
            return self._spent

    def reserve(self, most: Usage) -> str | None:
        """Set aside a request and the most it may use; otherwise say which limit stands against it."""
        limits = self._settings
        with self._lock:
            spent, under_way = self._spent, self._under_way
            reserved = Usage(
                under_way.prompt_tokens + most.prompt_tokens, under_way.completion_tokens + most.completion_tokens
            )
            tokens = spent.prompt_tokens + spent.completion_tokens + sum(reserved)
            money = spent.money + self._cost(reserved)
            if spent.calls + 1 > limits.llm_max_calls:
                return _word("calls", spent.calls, limits.llm_max_calls)
            if limits.llm_max_tokens is not None and tokens > limits.llm_max_tokens:
                return _word("tokens", tokens - sum(most), limits.llm_max_tokens)
            if limits.llm_max_money is not None and money > limits.llm_max_money:
                return _word("money", money - self._cost(most), limits.llm_max_money)
            self._spent = spent._replace(calls=spent.calls + 1)
            self._under_way = reserved
            return None

    def settle(self, most: Usage, used: Usage) -> None:
        """Count what a request used, in place of what was set aside for it."""
        with self._lock:
            spent, under_way = self._spent, self._under_way
            self._under_way = Usage(
                under_way.prompt_tokens - most.prompt_tokens, under_way.completion_tokens - most.completion_tokens
            )
            self._spent = spent._replace(
                prompt_tokens=spent.prompt_tokens + used.prompt_tokens,
                completion_tokens=spent.completion_tokens + used.completion_tokens,
                money=spent.money + self._cost(used),
            )

    def from_cache(self) -> None:
        """Count an answer that cost nothing."""
        with self._lock:
            self._spent = self._spent._replace(cached=self._spent.cached + 1)

    def _cost(self, usage: Usage) -> float:
        return usage.prompt_tokens * self._price_in + usage.completion_tokens * self._price_out


def _word(what: str, used: float, limit: float) -> str:
    used_of = f"{used:g} of {limit:g}" if isinstance(limit, float) else f"{used} of {limit}"
    return f"{used_of} {what} used or under way, and one more answer could pass {variable_of(f'llm_max_{what}')}"
