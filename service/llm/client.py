"""The client of a model's endpoint: synchronous, thread-safe, and it never raises for what the endpoint does (issue 7).

A question takes at most `llm_attempts` requests of `llm_timeout_s` each, with a short pause between two, or the one
that Retry-After asks for; a pause longer than `llm_timeout_s` is not waited for, and until it is over nothing is sent.
Timeouts, broken connections, 429 and 5xx are tried again; whatever else went wrong would go wrong again.
"""

import hashlib
import logging
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from random import SystemRandom
from typing import Final, NamedTuple

import jsonschema_rs

from service.errors import OperatorError
from service.llm.asking import Answered, Ask, Failed, Spent, Trouble
from service.llm.breaker import Breaker, Turn
from service.llm.budget import Budget, Usage, estimated_tokens
from service.llm.cache import Cache, cache
from service.llm.holding import Holding
from service.llm.protocol import Said, read_message, read_reply, read_status, request_body
from service.llm.settings import LlmSettings
from service.llm.wire import STOPPED, Arrived, Lost, Wire, wire
from service.secret import Secret, read_secret
from service.settings import line_of, variable_of

logger = logging.getLogger(__name__)

ANSWERED: Final = "answered"
CACHED: Final = "cached"
RESULTS: Final = (ANSWERED, CACHED, *(trouble.value for trouble in Trouble))
_AGAIN: Final = frozenset((Trouble.TIMEOUT, Trouble.UNREACHABLE, Trouble.RATE_LIMITED, Trouble.SERVER_ERROR))
_FAULTS: Final = frozenset((Trouble.TIMEOUT, Trouble.UNREACHABLE, Trouble.SERVER_ERROR))
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEY: Final = re.compile(r"[!-~]+")
_FIRST_PAUSE_S: Final = 0.25
_MOST_PAUSE_S: Final = 8.0
_RANDOM: Final = SystemRandom()


class Counted(NamedTuple):
    """What a client has counted: questions by result (RESULTS, all there from the start), and what they took."""

    results: Mapping[str, int]
    breaker_open: bool
    spent: Spent


class Client:
    """Asks one model; `opened` makes it."""

    def __init__(self, settings: LlmSettings, line: Wire, answers: Cache) -> None:
        """Take the settings, an open wire and an open cache."""
        self.model: Final = settings.llm_model
        self._settings = settings
        self._wire = line
        self._cache = answers
        self._budget = Budget(settings)
        self._breaker = Breaker(settings.llm_breaker_failures, settings.llm_breaker_pause_s)
        self._holding = Holding()
        self._places = threading.BoundedSemaphore(settings.llm_concurrency)
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._results: Counter[str] = Counter(dict.fromkeys(RESULTS, 0))

    @property
    def spent(self) -> Spent:
        """What was used so far."""
        return self._budget.spent

    @property
    def counted(self) -> Counted:
        """What was counted so far, for metrics: a snapshot, whose numbers only grow."""
        with self._lock:
            return Counted(dict(self._results), self._breaker.is_open, self._budget.spent)

    def ask(self, ask: Ask) -> Answered | Failed:
        """Ask a question, or find its answer in the cache.

        Raises:
            ValueError: a name or a schema that is none.
            TypeError: text that cannot be written as UTF-8 (a lone surrogate).
        """
        if not _NAME.fullmatch(ask.name):
            raise ValueError("the name of a schema: expected letters, digits, '_', '-', at most 64")
        fits = jsonschema_rs.validator_for(dict(ask.schema)).is_valid
        body = request_body(self._settings, ask)
        key = _cache_key(self._settings.llm_url, ask.sample, body)
        kept = self._kept(key)
        if kept is not None and fits(kept.content):
            self._budget.from_cache()
            self._count(CACHED)
            return Answered(kept.content, self.model)
        said = self._attempts(body)
        if isinstance(said, Failed):
            times = self._count(said.trouble.value)
            logger.log(_level(said.trouble, times), "a model gave no answer: %s: %s", said.trouble, said.detail)
            return said
        self._count(ANSWERED)
        if fits(said.content):
            self._cache.put(key, said.text)
        return Answered(said.content, self.model)

    def stop(self) -> None:
        """End pauses and requests under way, from any thread; what is asked from now on fails as unreachable."""
        self._stopped.set()
        self._wire.stop()

    def _kept(self, key: bytes) -> Said | None:
        text = self._cache.get(key)
        said = None if text is None else read_message(text)
        return said if isinstance(said, Said) else None

    def _count(self, result: str) -> int:
        with self._lock:
            self._results[result] += 1
            return self._results[result]

    def _attempts(self, body: bytes) -> Said | Failed:
        """Send a question's requests until one is answered, or another would not help or may not be sent."""
        attempt, said = 1, self._attempt(body)
        while _may_pass(said) and attempt < self._settings.llm_attempts and not self._is_left_alone():
            self._sleep(min(_FIRST_PAUSE_S * 2 ** (attempt - 1), _MOST_PAUSE_S) + _RANDOM.uniform(0, _FIRST_PAUSE_S))
            attempt, said = attempt + 1, self._attempt(body)
        return said

    def _is_left_alone(self) -> bool:
        return self._breaker.is_open or self._holding.left_s > self._settings.llm_timeout_s

    def _sleep(self, seconds: float) -> None:
        self._stopped.wait(seconds)

    def _attempt(self, body: bytes) -> Said | Failed:
        with self._places:
            held_s = self._holding.left_s
            if held_s > self._settings.llm_timeout_s:
                return Failed(Trouble.RATE_LIMITED, f"the endpoint asked to be left alone for {held_s:.0f} s more")
            if held_s:
                self._sleep(held_s)
            if self._stopped.is_set():
                return STOPPED
            admitted = self._breaker.admit()
            if admitted is None:
                return Failed(Trouble.CIRCUIT_OPEN, "the endpoint kept failing and is left alone for a while")
            try:
                said = self._request(body)
            except BaseException:
                self._breaker.discard(admitted)
                raise
        self._report(admitted, said)
        return said

    def _request(self, body: bytes) -> Said | Failed:
        """Send one request, if the budget allows it, and count what it used."""
        most = Usage(estimated_tokens(body), self._settings.llm_answer_tokens)
        refused = self._budget.reserve(most)
        if refused is not None:
            return Failed(Trouble.BUDGET_SPENT, refused)
        used = Usage(0, 0)
        try:
            said, used = self._read(self._wire.post(body), most.prompt_tokens)
        finally:
            self._budget.settle(most, used)
        return said

    def _read(self, came: Arrived | Lost, prompt_tokens: int) -> tuple[Said | Failed, Usage]:
        """Read what came; where no usage is told, a request that arrived has cost its prompt, an error nothing."""
        if isinstance(came, Lost):
            return came.failed, Usage(prompt_tokens if came.sent else 0, 0)
        if came.status != HTTPStatus.OK:
            failed = read_status(came.status)
            if failed.trouble in _AGAIN:
                self._holding.hold(came.retry_after)
            return failed, Usage(0, 0)
        said, usage = read_reply(came.body)
        written = min(estimated_tokens(came.body), self._settings.llm_answer_tokens)
        return said, usage or Usage(prompt_tokens, written)

    def _report(self, admitted: int, said: Said | Failed) -> None:
        trouble = said.trouble if isinstance(said, Failed) else None
        if trouble is Trouble.BUDGET_SPENT or self._stopped.is_set():
            self._breaker.discard(admitted)
            return
        turn = self._breaker.report(admitted, failed=trouble in _FAULTS)
        if turn is Turn.OPENED:
            logger.warning("the endpoint is left alone for %g s", self._settings.llm_breaker_pause_s)
        elif turn is Turn.CLOSED:
            logger.warning("the endpoint answers again")


@contextmanager
def opened(settings: LlmSettings) -> Iterator[Client]:
    """Open a client for the block; what other threads still ask at its end fails as unreachable.

    Raises:
        OperatorError: a file, of the key or the cache, that cannot be used.
    """
    key = _key(settings)
    with cache(settings.llm_cache_file, settings.llm_cache_entries) as answers, wire(settings, key) as line:
        client = Client(settings, line, answers)
        try:
            yield client
        finally:
            client.stop()


def _may_pass(said: Said | Failed) -> bool:
    return isinstance(said, Failed) and said.trouble in _AGAIN


def _level(trouble: Trouble, times: int) -> int:
    """Keep what would come with every question, and was told, off the log."""
    if trouble is Trouble.CIRCUIT_OPEN:
        return logging.DEBUG
    if trouble is Trouble.BUDGET_SPENT:
        return logging.WARNING if times == 1 else logging.DEBUG
    return logging.INFO


def _cache_key(url: str, sample: int, body: bytes) -> bytes:
    """Hash all an answer depends on; the body holds model, messages, schema, format, temperature and limit."""
    return hashlib.sha256(b"\n".join((url.encode(), str(sample).encode(), body))).digest()


def _key(settings: LlmSettings) -> Secret | None:
    if settings.llm_api_key_file is None:
        return None
    key = read_secret(variable_of("llm_api_key_file"), settings.llm_api_key_file)
    if not _KEY.fullmatch(key):
        raise OperatorError(line_of("llm_api_key_file", "one line of ASCII without spaces"))
    return key
