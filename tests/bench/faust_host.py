"""The step in a plain Faust agent, as its tutorial would write it: a table, and a send for every verdict.

Run: `python faust_host.py BROKER GROUP TURNS VERDICTS PARTITIONS FOLDER`.
"""

import sys
from pathlib import Path
from typing import Any

import faust

from bench.hosted import judge, read_snapshot, stamps

BROKER, GROUP, TURNS, VERDICTS, PARTITIONS, FOLDER = sys.argv[1:7]
by_partition = stamps(TURNS, int(PARTITIONS), read_snapshot(Path(FOLDER)))
app = faust.App(
    GROUP,
    broker=f"kafka://{BROKER}",
    store="memory://",
    topic_partitions=int(PARTITIONS),
    topic_replication_factor=1,
    topic_disable_leader=True,
    table_standby_replicas=0,
    web_enabled=False,
    consumer_auto_offset_reset="earliest",
)
turns = app.topic(TURNS, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
verdicts = app.topic(VERDICTS, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
sessions = app.Table("sessions", partitions=int(PARTITIONS))


@app.agent(turns)
async def judge_turns(stream: Any) -> None:
    """Judge every turn of the stream."""
    async for event in stream.events():
        session_id = event.key.decode()
        message = event.message
        time_ms = int(message.timestamp * 1000)
        stamp = by_partition[message.partition]
        answer = judge(event.value, session_id, message.offset, time_ms, sessions.get(session_id), stamp)
        if answer.row is not None:
            sessions[session_id] = answer.row
        await verdicts.send(key=event.key, value=answer.value, headers=answer.headers)


if __name__ == "__main__":
    sys.argv[1:] = ["worker", "--loglevel", "warn"]
    app.main()
