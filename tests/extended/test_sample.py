"""The sample chat under both profiles: which verdicts flip, each read by a person and found right."""

import json
from pathlib import Path

from files.commands import typed
from services import ROOT

SAMPLE = ROOT / "service" / "embedded" / "sample"
FLIPS = {
    "T-000134": ("말투 어긋남", "설정대로 말함"),  # 하시겠습니까 is 존댓말
    "T-000137": ("앞 회차를 기억 못 함", "설정대로 말함"),  # 소꿉친구 was asked for, and 친구 was not
    "T-000146": ("금지 소재 접촉", "설정대로 말함"),  # 음주 in 다음주쯤 is no word
}


def verdicts(profile: str, folder: Path) -> dict[str, str]:
    out = folder / f"{profile}.jsonl"
    against = ("--cards", SAMPLE / "cards.jsonl", "--lexicon", SAMPLE / "lexicon.jsonl", "--profile", profile)
    assert typed("judge", SAMPLE / "turns.jsonl", *against, "--out", out).code == 0
    assert typed("verify", out, "--turns", SAMPLE / "turns.jsonl", *against).code == 0
    rows = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    return {row["turn_id"]: row["verdict"] for row in rows}


def test_three_verdicts_of_the_sample_chat_flip(tmp_path: Path) -> None:
    seed, extended = verdicts("seed", tmp_path), verdicts("extended", tmp_path)
    flips = {turn: (seed[turn], extended[turn]) for turn in seed if seed[turn] != extended[turn]}
    assert len(seed) == 68
    assert flips == FLIPS
