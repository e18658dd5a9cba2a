import csv
from pathlib import Path

import pytest

from service.review.loading.sheets import plain


def test_a_long_cell_is_copied_whatever_was_read_before(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(f"turn_id;reply_text\nT-1;{'가' * 200_000}\n", encoding="utf-8")
    before = csv.field_size_limit(1_000)
    try:
        copy = plain(file, lambda _: None)
    finally:
        csv.field_size_limit(before)
    assert copy.read_text("utf-8") == f"turn_id,reply_text\nT-1,{'가' * 200_000}\n"


@pytest.mark.parametrize("text", ["", "one\n", "a,b\n1,2\n"])
def test_what_needs_no_copy_is_the_file_itself(tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text, encoding="utf-8")
    assert plain(file, pytest.fail) == file
