"""The oracle's speed: 10,000 cases of 20 words over outputs of 1 kB, beside plain loops and, where it is, promptfoo.

Run: `PYTHONPATH=.:tests .venv/bin/python -m bench.oracle [--promptfoo FOLDER]`, where FOLDER holds
node_modules/promptfoo. Figures are CPU time of one core. Every way must pass the same cases.
"""

import argparse
import gc
import json
import os
import random
import subprocess
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from rich.console import Console
from rich.table import Table

from rules.folding import Folded
from rules.oracle.case import Asking, Output, examine
from rules.oracle.criteria import Criteria, read_criteria
from rules.oracle.matcher import Matcher
from rules.oracle.pattern import Pattern
from rules.oracle.words import find_words
from schemas.outcome import Word
from schemas.validate import ORACLE_CASE
from service.decode import parse

Row = dict[str, Any]
SYLLABLES: Final = [chr(code) for code in range(0xAC00, 0xD7A4, 37)]
PASSES: Final = 3


class Shape(NamedTuple):
    """How large a case is: wanted words in groups, banned words, bytes of output; and how many cases."""

    groups: int
    synonyms: int
    banned: int
    output_bytes: int
    cases: int

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.groups * self.synonyms + self.banned:,} words over {self.output_bytes:,} bytes"


USUAL: Final = Shape(4, 3, 8, 1_000, 10_000)
LARGE: Final = Shape(10, 20, 800, 20_000, 200)


class Speed(NamedTuple):
    """A way to check the workload: CPU seconds for so many cases, how many passed, and what it answers."""

    way: str
    cases: int
    cpu_s: float
    passed: int
    answers: str


def workload(shape: Shape, seed: int) -> list[Row]:
    """Generate cases; most outputs pass."""
    rng = random.Random(seed)
    return [_case(rng, shape, number) for number in range(shape.cases)]


def _case(rng: random.Random, shape: Shape, number: int) -> Row:
    groups = [[_word(rng) for _ in range(shape.synonyms)] for _ in range(shape.groups)]
    banned = [_word(rng) for _ in range(shape.banned)]
    wanted = [rng.choice(group) for group in groups if rng.random() < 0.97]
    touched = [rng.choice(banned)] if rng.random() < 0.05 else []
    said = [*wanted, *touched]
    length = sum(len(word.encode()) + 1 for word in said)
    while length < shape.output_bytes - 16:
        said.append(_word(rng))
        length += len(said[-1].encode()) + 1
    rng.shuffle(said)
    criteria = {"must_include": groups, "must_not_include": banned}
    return {"id": f"c{number}", "evaluation_criteria": criteria, "output": " ".join(said)}


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(SYLLABLES, k=rng.randint(3, 5)))


def whole(lines: list[tuple[bytes, bytes]]) -> int:
    """Judge from bytes to results: rows parsed, held against the schema, compiled, scanned, quoted."""
    passed = 0
    for case, output in lines:
        row = parse(case)
        assert ORACLE_CASE.is_valid(row)
        criteria = read_criteria(row)
        assert isinstance(criteria, Criteria)
        result = examine(row["id"], criteria, [Output(parse(output)["output"], 1, 1)], Asking())
        passed += result.word is Word.PASS
    return passed


def judged(rows: list[tuple[Criteria, str]]) -> int:
    """Compile and scan each case, and say what stands where."""
    return sum(examine("", criteria, [Output(text, 1, 1)], Asking()).word is Word.PASS for criteria, text in rows)


def scanned(rows: list[tuple[Criteria, Matcher, str]]) -> int:
    """Scan each case with a matcher that was compiled before, and say what stands where."""
    return sum(find_words(criteria, matcher, Folded(text)).hold for criteria, matcher, text in rows)


def loops(rows: list[tuple[Criteria, str]]) -> int:
    """Say yes or no by `in`: no forms are folded, and nothing is said of where."""
    return sum(
        all(any(word in text for word in group) for group in criteria.groups)
        and not any(word in text for word in criteria.banned)
        for criteria, text in rows
    )


def loops_with_places(rows: list[tuple[Criteria, str]]) -> int:
    """Say by loops what the oracle says: every place of every word, after NFC."""
    passed = 0
    for criteria, text in rows:
        folded = unicodedata.normalize("NFC", text)
        groups = [{word: _places(unicodedata.normalize("NFC", word), folded) for word in g} for g in criteria.groups]
        banned = {word: _places(unicodedata.normalize("NFC", word), folded) for word in criteria.banned}
        passed += all(any(group.values()) for group in groups) and not any(banned.values())
    return passed


def _places(word: str, text: str) -> list[tuple[int, int]]:
    places = []
    start = text.find(word)
    while start >= 0:
        places.append((start, start + len(word)))
        start = text.find(word, start + 1)
    return places


def measure(cases: list[Row]) -> Iterator[Speed]:
    """Yield each way's speed; work that a way does not count is done before."""
    lines = [(orjson.dumps(row), orjson.dumps({"id": row["id"], "output": row["output"]})) for row in cases]
    read = [(_taken(read_criteria(row)), str(row["output"])) for row in cases]
    built = [(criteria, Matcher(criteria.entries(), criteria.patterns), text) for criteria, text in read]
    yield _timed("turnjudge, from bytes to results", lambda: whole(lines), len(cases), "what, where, how often")
    yield _timed("turnjudge, compiled and scanned", lambda: judged(read), len(cases), "what, where, how often")
    yield _timed("turnjudge, scanned", lambda: scanned(built), len(cases), "what, where, how often")
    yield _timed("Python `in` loops", lambda: loops(read), len(cases), "yes or no")
    yield _timed("Python loops, NFC and places", lambda: loops_with_places(read), len(cases), "what, where")


def _taken(criteria: object) -> Criteria:
    assert isinstance(criteria, Criteria), criteria
    return criteria


def _timed(way: str, work: Callable[[], int], count: int, answers: str) -> Speed:
    best, passed = float("inf"), 0
    for _ in range(PASSES):
        gc.collect()
        start = time.process_time()
        passed = work()
        best = min(best, time.process_time() - start)
    return Speed(way, count, best, passed, answers)


def measure_promptfoo(cases: list[Row], folder: Path, budget_s: float = 300) -> list[Speed]:
    """Return the speed of promptfoo's assertions, and of its evaluation as a whole."""
    script = Path(__file__).with_name("oracle_promptfoo.mjs")
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "workload.jsonl"
        file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in cases))
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": scratch}
        done = subprocess.run(
            ["node", str(script), str(folder), str(file)],
            env={**os.environ, **quiet},
            stdout=subprocess.PIPE,
            check=True,
            timeout=budget_s,
        )
    report = json.loads(done.stdout.splitlines()[-1])
    ways = {"assertions": "promptfoo, its assertions alone", "evaluate": "promptfoo, evaluate()"}
    return [Speed(way, **report[key], answers="what is missing") for key, way in ways.items()]


class Growth(NamedTuple):
    """A hostile output: how long it is in code points, and the CPU time its scan takes."""

    what: str
    length: int
    cpu_s: float


HOSTILE: Final[tuple[tuple[str, list[str], Callable[[int], str]], ...]] = (
    ("nested repeats", ["가" * length for length in range(1, 21)], lambda length: "가" * length),
    ("nested repeats and an absent word", ["나", *("가" * n for n in range(1, 20))], lambda length: "가" * length),
    ("almost a word, over and over", ["가" * 500 + "나"], lambda length: ("가" * 499 + "다") * (length // 500)),
    ("a word that nearly ends", ["가" * 2_000 + "나"], lambda length: "가" * length),
    ("decomposed, found", ["각각"], lambda length: unicodedata.normalize("NFD", "각") * (length // 3)),
    ("decomposed, not found", ["각나"], lambda length: unicodedata.normalize("NFD", "각") * (length // 3)),
    ("marks without end", ["e\u0301"], lambda length: "e" + "\u0301\u0323" * (length // 2)),
    ("re: nested stars", ["re:(가*)*나"], lambda length: "가" * length),
    ("re: overlapping choices", ["re:(가|가가)+나"], lambda length: "가" * length),
    ("re: every match looks to the end", ["re:.*[^가-힣]|[가-힣]"], lambda length: "가" * length),
    ("re: counted", ["re:[가-힣]{50,200}!"], lambda length: "가" * length),
)
LENGTHS: Final = (50_000, 100_000, 200_000, 400_000)


def hostile(lengths: Sequence[int] = LENGTHS) -> Iterator[Growth]:
    """Yield the CPU time of hostile outputs of growing length, folding and quoting included."""
    for what, entries, text_of in HOSTILE:
        patterns = {entry: Pattern(entry.removeprefix("re:")) for entry in entries if entry.startswith("re:")}
        criteria = Criteria((), tuple(entries), (), patterns)
        matcher = Matcher(entries, patterns)
        for length in lengths:
            text = text_of(length)
            best = float("inf")
            for _ in range(PASSES):
                start = time.process_time()
                find_words(criteria, matcher, Folded(text))
                best = min(best, time.process_time() - start)
            yield Growth(what, length, best)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.oracle", description=__doc__)
    parser.add_argument("--cases", type=int, default=USUAL.cases)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--promptfoo", type=Path, help="a folder that holds node_modules/promptfoo")
    options = parser.parse_args()
    run(Console(), options.cases, options.seed, options.promptfoo)


def run(console: Console, count: int, seed: int, promptfoo: Path | None) -> None:
    """Measure every way on both shapes, then hostile outputs; every way must pass the same cases."""
    for shape in (USUAL._replace(cases=count), LARGE):
        cases = workload(shape, seed)
        speeds = [*measure(cases), *(measure_promptfoo(cases, promptfoo) if promptfoo else ())]
        assert len({speed.passed for speed in speeds if speed.cases == len(cases)}) == 1, speeds
        console.print(as_table(shape, speeds))
    console.print(growth_table(list(hostile())))


def as_table(shape: Shape, speeds: list[Speed]) -> Table:
    """Lay out each way's speed."""
    table = Table("way", "cases", "cases a second", "µs a case", "passed", "answers")
    table.title = f"{shape}, one core, CPU time"
    for speed in speeds:
        per_s, us = speed.cases / speed.cpu_s, speed.cpu_s / speed.cases * 1e6
        table.add_row(speed.way, f"{speed.cases:,}", f"{per_s:,.0f}", f"{us:,.1f}", f"{speed.passed:,}", speed.answers)
    return table


def growth_table(growths: list[Growth]) -> Table:
    """Lay out the CPU time a code point of hostile outputs; linear is a row of equal figures."""
    table = Table("hostile output", *(f"{length:,}" for length in LENGTHS), title="ns a code point, by length")
    for what, _, _ in HOSTILE:
        row = [growth for growth in growths if growth.what == what]
        table.add_row(what, *(f"{growth.cpu_s / growth.length * 1e9:.1f}" for growth in row))
    return table


if __name__ == "__main__":
    main()
