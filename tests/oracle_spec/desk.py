"""Run `turnjudge oracle` over rows, as files."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from files.commands import Done, Row, write_rows
from service.cli import run

WORD: Row = {"must_include": ["가"], "must_not_include": ["무조건"]}
FLOW: Row = {"logical_flow": [{"step": 1, "check": "사과"}]}


class Files(NamedTuple):
    """Where a test keeps what the command reads; the command runs in this process, which is quicker."""

    folder: Path
    capture: pytest.CaptureFixture[bytes]

    def turnjudge(self, *arguments: str | Path) -> Done:
        """Run a command line that does not read stdin."""
        code = run([str(argument) for argument in arguments])
        written = self.capture.readouterr()
        return Done(code, written.out, written.err.decode())

    def run(self, cases: Row, outputs: list[Row], *arguments: str | Path, answers: list[Row] | None = None) -> Done:
        """Run the command over criteria by id, output rows and answers."""
        rows = [{"id": case_id, "evaluation_criteria": criteria} for case_id, criteria in cases.items()]
        dataset, given = self.folder / "dataset.jsonl", self.folder / "outputs.jsonl"
        more: list[str | Path] = []
        if answers is not None:
            more = ["--flow-answers", write_rows(self.folder / "answers.jsonl", answers)]
        paths = write_rows(dataset, rows), "--outputs", write_rows(given, outputs)
        return self.turnjudge("oracle", *paths, *more, *arguments)


def out(case_id: str, text: str | None, **more: Any) -> Row:
    """Return an output row."""
    return {"id": case_id, "output": text, **more}
