"""`judge --jobs N`: the same bytes as one process, and nothing left behind whatever happens."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from files.commands import MAIN, read_rows, turnjudge
from files.desk import Desk, hard, turn
from service.decode import Caps
from service.errors import OperatorError
from service.files import sharing
from service.files.judging import Judge, Order
from service.files.reference import Sources, read_reference
from service.files.sharing import shared
from services import ROOT
from stream.world import wait_for

CAPS = Caps()


def sources(desk: Desk) -> Sources:
    return read_reference(str(desk.cards), str(desk.lexicon), "seed", CAPS).sources


@pytest.mark.parametrize("order", Order)
def test_several_processes_write_what_one_writes(tmp_path: Path, order: Order) -> None:
    desk = hard(tmp_path, seed=21, turns=5_000)
    rows = desk.turns.read_bytes().splitlines()
    odd = [b"{", b"[]", b'"s"', b'{"session_id": 7}', json.dumps(turn("T-1", reply_text=None)).encode(), b"1e999"]
    wide = json.dumps(turn("T-2", extra=1)).encode().replace(b'"extra": 1', b'"extra": 1e999')
    desk.turns.write_bytes(b"\n".join([*rows[:2_000], *odd, wide, b"", *rows[2_000:]]))
    assert desk.judge("--order", order) == 1
    one = desk.out.read_bytes(), desk.rejects.read_bytes()
    assert len(one[0].splitlines()) > 4_500
    for jobs in ("2", "3"):
        assert desk.judge("--order", order, "--jobs", jobs) == 1
        assert (desk.out.read_bytes(), desk.rejects.read_bytes()) == one
    from_stdin = turnjudge("judge", "-", *desk.against, "--order", order, "--jobs", "2", stdin=desk.turns.read_bytes())
    assert (from_stdin.code, from_stdin.out) == (1, one[0])
    assert len(from_stdin.err.splitlines()) == len(read_rows(desk.rejects))


@pytest.mark.parametrize("order", Order)
def test_a_process_keeps_the_names_of_its_sessions_only(
    tmp_path: Path, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "_CHUNK_ROWS", 7)
    asking = {"user_asked_recall": True, "user_message": "형 이름 기억나?"}
    rows = [turn(f"T-{number}", session_id=f"S-{number % 9}", named_entities=["가온"]) for number in range(90)]
    rows += [turn(f"T-{number}", session_id=f"S-{number % 9}", **asking) for number in range(90, 180)]
    desk = Desk(tmp_path, rows)
    raw = list(enumerate((json.dumps(row).encode() for row in rows), start=1))
    alone = Judge(sources(desk).snapshot(), CAPS, order)
    with shared(sources(desk), CAPS, order, 4) as judges:
        if order is Order.ID:
            alone.learn(raw)
            judges.learn(raw)
        found = list(judges.judge(raw))
    assert found == list(alone.judge(raw))
    assert [json.loads(answer)["recall_target"] for _, answer in found[90:] if isinstance(answer, bytes)] == [
        "가온"
    ] * 90
    assert {sharing._owner(value, 4) for _, value in raw} == {0, 1, 2, 3}  # noqa: SLF001 - else it shows nothing


SESSIONS = {
    "plain": (b'{"session_id":"S-1"}', b'{"a":{"b":1}, "session_id" : "S-1"}'),
    "beyond ASCII": ('{"session_id":"세션"}'.encode(), b'{"session_id":"\\uc138\\uc158"}'),
    "an escaped key": (b'{"session_id":"S-1"}', b'{"session\\u005fid":"S-1","x":{"session_id":"S-9"}}'),
    "the last of two": (b'{"session_id":"S-1"}', b'{"session_id":"S-9","session_id":"S-1"}'),
    "nested beside": (b'{"session_id":"S-1"}', b'{"x":{"session_id":"S-9"},"session_id":"S-1"}'),
    "in a text": (b'{"session_id":"S-1"}', b'{"x":"\\"session_id\\":\\"S-9\\"","session_id":"S-1"}'),
    "a wide number": (b'{"session_id":"S-1"}', b'{"x":1e999,"session_id":"S-1"}'),
}


@pytest.mark.parametrize("kind", SESSIONS)
def test_rows_of_one_session_go_to_one_process_however_they_are_written(kind: str) -> None:
    one, other = (sharing._owner(value, 2**32) for value in SESSIONS[kind])  # noqa: SLF001 - the last bit counts
    assert one == other != 0


def test_records_near_the_cap_pass_the_pipes(tmp_path: Path) -> None:
    long = "가" * 80_000
    desk = Desk(tmp_path, [turn(f"T-{n}", session_id=f"S-{n}", reply_text=f"{long}{n}") for n in range(60)])
    assert desk.judge() == 0
    one = desk.out.read_bytes()
    assert desk.judge("--jobs", "2") == 0
    assert desk.out.read_bytes() == one


def test_a_process_that_is_killed_is_the_operators_line(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [turn("T-1")])
    with pytest.raises(OperatorError, match=r"^--jobs: a judging process ended with exit code -9$"):  # noqa: PT012, SIM117
        with shared(sources(desk), CAPS, Order.ARRIVAL, 2) as judges:
            os.kill(judges._lanes[0].process.pid or 0, signal.SIGKILL)  # noqa: SLF001 - the test's own process
            list(judges.judge([(1, json.dumps(turn("T-1")).encode())]))
    assert all(not lane.process.is_alive() for lane in judges._lanes)  # noqa: SLF001


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_command(tmp_path: Path, number: signal.Signals) -> None:
    desk = Desk(tmp_path, [turn("T-1", named_entities=["가온"])] * 40_000)
    # What the processes inherit: the pipe ends when the last of them does.
    reading, writing = os.pipe()
    arguments = ("judge", desk.turns, "--jobs", 2, *desk.against, "--out", desk.out)
    command = [sys.executable, "-P", "-c", MAIN, *map(str, arguments)]
    with subprocess.Popen(command, stderr=writing, cwd=ROOT, start_new_session=True) as process:
        os.close(writing)
        wait_for("it judges", lambda: any(part.stat().st_size for part in tmp_path.glob(".*.part")))
        os.killpg(process.pid, number) if number is signal.SIGINT else process.kill()
        with os.fdopen(reading, "rb") as said:
            text = said.read()
        assert process.wait(30) == (130 if number is signal.SIGINT else -number)
    assert text in (b"turnjudge: interrupted\n", b"")


@pytest.mark.parametrize("jobs", ["0", "65", "many"])
def test_a_wrong_number_of_jobs_is_exit_2(tmp_path: Path, jobs: str) -> None:
    assert Desk(tmp_path, []).judge("--jobs", jobs) == 2
