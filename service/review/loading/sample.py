"""The sample: one public character's past conversation, so that the page can be looked at before any upload."""

import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Final

import orjson
from sqlalchemy import Engine

from service.review.bench import Bench
from service.review.loading.files import File, Files
from service.review.loading.uploading import Loaded, load
from service.review.store.loads import SAMPLE

CHARACTER: Final = "CHR-BARU"
_WHO: Final = "turnjudge"
_FOLDER: Final = "sample"
_NAMES: Final = ("turns", "cards", "lexicon")


def load_sample(engine: Engine, bench: Bench) -> Loaded | None:
    """Judge the sample into an empty database, once; None where there was a load, or are rows, already."""
    with tempfile.TemporaryDirectory(prefix="turnjudge-sample-") as name:
        return load(engine, _files(Path(name)), bench, _WHO, lambda done, of: None, kind=SAMPLE, only_first=True)


def _files(folder: Path) -> Files:
    shipped = files("service.embedded") / _FOLDER
    for name in _NAMES:
        lines = (shipped / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if name == "lexicon" or orjson.loads(line)["character_id"] == CHARACTER]
        (folder / f"{name}.jsonl").write_bytes(b"".join(kept))
    found = [File(f"{_FOLDER}/{name}.jsonl", folder / f"{name}.jsonl") for name in _NAMES]
    return Files(*found)
