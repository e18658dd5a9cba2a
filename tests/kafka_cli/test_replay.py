"""`turnjudge replay` and `forget`, on a real Kafka."""

from kafka_cli.line import PARTITIONS, TEXT, Line, letter
from schemas.refusal import Reason
from service.replay import replay_group


def test_a_replay_sends_to_the_byte_and_a_second_one_sends_nothing(line: Line) -> None:
    dead, turns = line.topics.turn_dead_letters, line.topics.chat_turns
    line.send(
        dead,
        (b"k", b"\xff\x00", letter("malformed", 1), 0),
        (b"k", b"{}", letter("schema_invalid", 2), 0),
        (None, b"{", letter("malformed", 3), 1),
        (b"other", b"[", letter("malformed", 4), 1),
    )
    first = line.run("replay", "--reason", "malformed")
    assert first == (0, b"", f"malformed: 3 sent to {turns}, 0 passed over\n")
    sent = [(r.partition, r.key, r.value, r.headers) for r in line.read(turns)]
    assert sent == [
        (0, b"k", b"\xff\x00", [("replayed_from", f"{dead}/0/0".encode())]),
        (1, None, b"{", [("replayed_from", f"{dead}/1/0".encode())]),
        (1, b"other", b"[", [("replayed_from", f"{dead}/1/1".encode())]),
    ]
    assert line.run("replay", "--reason", "malformed").err.startswith("malformed: 0 sent to ")
    assert len(line.read(turns)) == 3
    line.send(dead, (b"new", b"]", letter("malformed", 5), 2))
    assert line.run("replay", "--reason", "malformed").err.startswith("malformed: 1 sent to ")
    assert line.read(turns)[-1].value == b"]"


def test_each_reason_is_replayed_for_itself(line: Line) -> None:
    line.send(line.topics.turn_dead_letters, *((b"k", r.encode(), letter(r, 1), 0) for r in Reason))
    for number, reason in enumerate(Reason, start=1):
        assert line.run("replay", "--reason", reason.value).err.startswith(f"{reason}: 1 sent to ")
        assert line.read(line.topics.chat_turns)[-1].value == reason.encode()
        assert len(line.read(line.topics.chat_turns)) == number
    assert replay_group(line.settings, Reason.MALFORMED) == f"{line.settings.group}-replay-malformed"


def test_a_dry_run_sends_and_keeps_nothing(line: Line) -> None:
    dead = line.topics.turn_dead_letters
    line.send(dead, (b"k", TEXT.encode(), letter("malformed", 1), 0))
    for _ in range(2):
        ran = line.run("replay", "--reason", "malformed", "--dry-run")
        assert (ran.code, ran.out.decode()) == (0, f"{dead}/0/0: row: expected more\n")
        assert ran.err == f"malformed: 1 would be sent to {line.topics.chat_turns}, 0 passed over\n"
    assert line.read(line.topics.chat_turns) == []
    assert line.run("replay", "--reason", "malformed").err.startswith("malformed: 1 sent to ")


def test_a_limit_stops_and_the_next_replay_goes_on(line: Line) -> None:
    letters = [(b"k", b"%d" % number, letter("malformed", number), number % 2) for number in range(10)]
    line.send(line.topics.turn_dead_letters, *letters)
    for sent, total in ((3, 3), (3, 6), (3, 9), (1, 10), (0, 10)):
        ran = line.run("replay", "--reason", "malformed", "--limit", "3")
        assert ran.err.startswith(f"malformed: {sent} sent to ")
        assert len(line.read(line.topics.chat_turns)) == total
    assert sorted(int(r.value) for r in line.read(line.topics.chat_turns)) == list(range(10))


def test_from_the_beginning_sends_all_again(line: Line) -> None:
    line.send(line.topics.turn_dead_letters, (b"k", b"1", letter("malformed", 1), 0))
    line.run("replay", "--reason", "malformed")
    assert line.run("replay", "--reason", "malformed", "--from-beginning").err.startswith("malformed: 1 sent to ")
    assert [r.value for r in line.read(line.topics.chat_turns)] == [b"1", b"1"]


def test_what_was_cut_is_passed_over_and_said(line: Line) -> None:
    dead = line.topics.turn_dead_letters
    cut = letter("too_large", 1, size="900", truncated="value")
    line.send(
        dead, (b"k", b"cut", cut, 0), (b"k", None, letter("too_large", 2), 0), (b"k", b"1", letter("too_large", 3), 0)
    )
    ran = line.run("replay", "--reason", "too_large")
    assert ran == (
        *(0, b""),
        f"{dead}/0/0: cut to fit, so it cannot be sent\ntoo_large: 1 sent to {line.topics.chat_turns}, 1 passed over\n",
    )
    assert [r.value for r in line.read(line.topics.chat_turns)] == [b"1"]
    assert line.run("replay", "--reason", "too_large").err.startswith("too_large: 0 sent")


def test_an_unknown_reason_is_a_wrong_usage(line: Line) -> None:
    ran = line.run("replay", "--reason", "boredom")
    assert ran.code == 2
    assert "'malformed', 'too_large', 'schema_invalid', 'unknown_character', 'rule_failed', 'unverified'" in ran.err


def test_forget_tells_every_partition(line: Line) -> None:
    ran = line.run("forget", "세션-1")
    assert (ran.code, ran.out) == (0, b"")
    assert ran.err.startswith("forgotten: 1 session\nworkers: 3 partitions were told\nstays: ")
    assert "no database of a page was named" in ran.err
    told = [(r.partition, r.key, r.value, [name for name, _ in r.headers]) for r in line.read(line.topics.chat_turns)]
    assert told == [(n, "세션-1".encode(), None, ["forget"]) for n in range(PARTITIONS)]
    assert line.run("forget", " ").code == 2
