"""The step in Quix Streams with state.

Run: `python quix_host.py BROKER GROUP TURNS VERDICTS PARTITIONS FOLDER`.
"""

import sys
from pathlib import Path
from typing import Any

from quixstreams import Application, message_context

from bench.hosted import Answer, judge, read_snapshot, stamps

BROKER, GROUP, TURNS, VERDICTS, PARTITIONS, FOLDER = sys.argv[1:7]
by_partition = stamps(TURNS, int(PARTITIONS), read_snapshot(Path(FOLDER)))
app = Application(
    BROKER, consumer_group=GROUP, auto_offset_reset="earliest", state_dir=Path(FOLDER) / GROUP, loglevel="WARNING"
)
turns = app.topic(TURNS, value_deserializer="bytes")
verdicts = app.topic(VERDICTS, value_serializer="bytes")


def judge_turn(value: bytes, key: bytes, timestamp: int, headers: Any, state: Any) -> Answer:
    """Judge one turn."""
    at = message_context()
    answer = judge(value, key.decode(), at.offset, timestamp, state.get("elements"), by_partition[at.partition])
    if answer.row is not None:
        state.set("elements", answer.row)
    return answer


judged = app.dataframe(turns).apply(judge_turn, stateful=True, metadata=True)
judged = judged.set_headers(lambda answer, *_: answer.headers)
judged.apply(lambda answer: answer.value).to_topic(verdicts)

if __name__ == "__main__":
    app.run()
