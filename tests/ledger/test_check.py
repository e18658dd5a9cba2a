"""The checker finds what it is there to find: real books of a real run pass, and spoilt in any one way they do not."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any, NamedTuple

import pytest

from brokers import KafkaBroker
from ledger.__main__ import exit_code, line
from ledger.check import Books, Checked, Checker, Figures
from ledger.faults import kill
from ledger.feed import Acknowledged
from ledger.fleet import Counts, Ended, counts_of
from ledger.history import History
from ledger.plan import make_plan, records
from ledger.run import Result, Run, Size
from schemas.refusal import Reason
from service.stream.settings import WorkerSettings
from stream.world import headers


class Kept(NamedTuple):
    """The books of a run, and what they are held against."""

    books: Books
    history: History
    settings: WorkerSettings
    acknowledged: list[Acknowledged]
    ended: list[Ended]

    def check(self) -> Checked:
        return Checker(self.books, self.history, self.settings).check(self.acknowledged, self.ended)


@pytest.fixture(scope="module")
def kept(kafka: KafkaBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """A run of 900 records on which a worker was killed."""
    size = Size(records=900, rate=50.0, times=1)
    with ExitStack() as stack:
        made = Run(kafka, make_plan("check", size.records), size, tmp_path_factory.mktemp("ledger"), stack)
        made.fleet.join()
        made.feeder.start()
        kill(made)
        made.end()
        yield Kept(made.books(), made.history, made.world.settings, made.feeder.acknowledged(), made.fleet.ended)


def test_the_books_of_a_run_pass(kept: Kept) -> None:
    checked = kept.check()
    assert checked.words == []
    figures = checked.figures
    assert (figures.violations, figures.outcomes - figures.repeats) == (0, figures.turns)
    assert figures.turns > 850
    assert {headers(each)["reason"] for each in kept.books.letters} >= {"malformed", "unknown_character", "too_large"}
    assert [each.code for each in kept.ended].count(0) == 1


def last(records: list[Any], **changes: Any) -> list[Any]:
    """Change the last record."""
    return [*records[:-1], records[-1]._replace(**changes)]


def header(record: Any, name: str, value: str) -> list[tuple[str, bytes]]:
    return [(key, value.encode() if key == name else old) for key, old in record.headers]


def swapped(records: list[Any]) -> list[Any]:
    """Exchange the first outcomes of two turns of one partition."""
    one = records[0]
    place = next(i for i, each in enumerate(records) if headers(each)["offset"] != headers(one)["offset"])
    assert records[place].partition == one.partition
    return [records[place], *records[1:place], one, *records[place + 1 :]]


def without(records: list[Any]) -> list[Any]:
    """Leave out every copy of the last outcome."""
    gone = records[-1]
    same = gone.partition, headers(gone)["offset"]
    return [each for each in records if (each.partition, headers(each)["offset"]) != same]


def otherwise(records: list[Any]) -> list[Any]:
    """Add a copy of the last verdict that says something else."""
    return [*records, records[-1]._replace(value=records[-1].value.replace(b'"turn_id"', b'"turn_id" '))]


def shifted(records: list[Any]) -> list[Any]:
    """Say in each copy of one verdict that it is of another turn, whose verdict it is not."""
    one, other = records[-1], records[-2]
    assert one.value != other.value
    return [each._replace(value=other.value) if each.value == one.value else each for each in records]


def on(part: str, change: Callable[[list[Any]], list[Any]]) -> Callable[[Kept], Kept]:
    """Change one part of the books."""
    return lambda kept: kept._replace(books=kept.books._replace(**{part: change(getattr(kept.books, part))}))


def with_counts(change: Callable[[Counts], Counts | None]) -> Callable[[Kept], Kept]:
    def spoil(kept: Kept) -> Kept:
        ended = [each._replace(counts=change(each.counts)) if each.counts else each for each in kept.ended]
        return kept._replace(ended=ended)

    return spoil


def lose_element(records: list[Any]) -> list[Any]:
    return [each for each in records if (each.partition, each.key) != (records[0].partition, records[0].key)]


def bury_element(records: list[Any]) -> list[Any]:
    return [*records, records[0]._replace(value=None)]


def age_element(records: list[Any]) -> list[Any]:
    return [*records, records[0]._replace(value=records[0].value.replace(b'["', b'["0', 1))]


def invent_element(records: list[Any]) -> list[Any]:
    return [*records, records[0]._replace(key=records[0].key.replace(b'["', b'["X', 1))]


SPOILT: list[tuple[str, str, Callable[[Kept], Kept]]] = [
    ("a verdict is lost", "missing", on("verdicts", without)),
    ("a dead letter is lost", "missing", on("letters", without)),
    ("a copy differs", "differing", on("verdicts", otherwise)),
    ("a copy differs, and so is wrong", "wrong", on("verdicts", otherwise)),
    ("all copies say what another turn's says", "wrong", on("verdicts", shifted)),
    ("a verdict has another key", "wrong", on("verdicts", lambda found: last(found, key=b"S-other"))),
    (
        "a verdict names cards that never were",
        "wrong",
        on("verdicts", lambda found: last(found, headers=header(found[-1], "card", "00"))),
    ),
    (
        "a verdict says it skipped what it did not",
        "wrong",
        on("verdicts", lambda found: last(found, headers=header(found[-1], "skipped", "no_reply,x"))),
    ),
    (
        "one turn has two ids under the same digests",
        "differing",
        on("verdicts", lambda found: [*found, *last(found, headers=header(found[-1], "verdict_id", "0"))[-1:]]),
    ),
    ("a dead letter has another reason", "wrong",
     on("letters", lambda found: last(found, headers=header(found[-1], "reason", Reason.UNVERIFIED)))),
    ("a dead letter is cut", "wrong", on("letters", lambda found: last(found, value=found[-1].value[:-1] + b"?"))),
    ("verdicts are in another order", "disorder", on("verdicts", swapped)),
    ("an element is lost", "state", on("changelog", lose_element)),
    ("an element is buried", "state", on("changelog", bury_element)),
    ("an element has another value", "state", on("changelog", age_element)),
    ("an element is invented", "state", on("changelog", invent_element)),
    ("a turn was acknowledged and is not there", "unsent",
     lambda kept: kept._replace(acknowledged=[*kept.acknowledged, kept.acknowledged[0]._replace(offset=10**6)])),
    ("a worker consumed more than it completed", "counts",
     with_counts(lambda counts: counts._replace(consumed=counts.consumed + 1))),
    ("a worker does not say what it counted", "counts", with_counts(lambda _: None)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "spoil"), [(kind, spoil) for _, kind, spoil in SPOILT], ids=[it[0] for it in SPOILT])
def test_spoilt_books_do_not_pass(kept: Kept, kind: str, spoil: Callable[[Kept], Kept]) -> None:
    checked = spoil(kept).check()
    assert getattr(checked.figures, kind) > 0
    assert any(word.startswith(kind) for word in checked.words)
    assert exit_code([Result("1", {}, checked.figures, checked.words, {}, 1.0)]) == 1


def test_the_judged_counts_of_clean_workers_are_the_records_written(kept: Kept) -> None:
    clean = [each for each in kept.ended if each.code == 0]
    assert kept._replace(ended=clean).check().figures.counts == 1  # what the killed one wrote nobody counted


def test_a_plan_hangs_on_its_seed_alone() -> None:
    def of(seed: str) -> list[object]:
        plan = make_plan(seed, 300)
        return [plan, *islice(records(plan), 4_500)]

    one = of("a")
    assert one[1:2_001] != one[2_001:4_001]
    random.seed(5)
    assert of("a") == one
    assert of("b")[1:] != one[1:]


def test_a_line_of_figures_says_all() -> None:
    figures = Figures(turns=10, outcomes=12, repeats=2, wrong=1)
    found = line(7, [Result("7/kill", {"kill": 2}, figures, [], {0: 1}, 3.0)] * 2, 9.0)
    assert found == (
        "ledger: seed 7, 2 runs, faults: kill 4; 20 turns, unsent 0, missing 0, differing 0, wrong 2, disorder 0, "
        "state 0, counts 0, stuck 0, repeats 16.67% (4), 9 s"
    )
    assert exit_code([Result("", {}, Figures(turns=9), [], {}, 1.0)]) == 0


def test_a_workers_last_words_are_read() -> None:
    said = "x INFO y: ended: 10 consumed, 7 judged, 1 dead letters, 2 tombstones, 0 abandoned\n"
    assert counts_of(said) == (10, 7, 1, 2, 0)
    assert counts_of("ended by KafkaError") is None
