"""The step in Quix Streams with state.

Run: `python quix_host.py BROKER GROUP TURNS VERDICTS PARTITIONS FOLDER`.
"""

import sys
from pathlib import Path
from typing import Any

from quixstreams import Application, message_context

from bench.hosted import judge, read_snapshot

BROKER, GROUP, TURNS, VERDICTS, _, FOLDER = sys.argv[1:7]
against = read_snapshot(Path(FOLDER))
app = Application(
    BROKER, consumer_group=GROUP, auto_offset_reset="earliest", state_dir=Path(FOLDER) / GROUP, loglevel="WARNING"
)
turns = app.topic(TURNS, value_deserializer="bytes")
verdicts = app.topic(VERDICTS, value_serializer="bytes")


def judge_turn(value: bytes, key: bytes, timestamp: int, headers: Any, state: Any) -> bytes:
    """Judge one turn."""
    answer, row = judge(value, key.decode(), message_context().offset, timestamp, state.get("elements"), against)
    if row is not None:
        state.set("elements", row)
    return answer


app.dataframe(turns).apply(judge_turn, stateful=True, metadata=True).to_topic(verdicts)

if __name__ == "__main__":
    app.run()
