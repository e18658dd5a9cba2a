"""A rolling restart of workers by the settings of the StatefulSet: nobody else's partitions move, nothing is lost."""

import json
import random
import threading
import time

import pytest

from brokers import KafkaBroker
from deploy.manifests import of_kind, settings
from generate import make_bench_turns, make_cards, make_lexicon
from stream.offline import check_outcomes, snapshot_of
from stream.world import Worker, World, wait_for, world

PARTITIONS = 6
# The names of the world's topics and brokers are its own, and a port is taken by one pod only.
OWN = ("TURNJUDGE_BROKERS", "TURNJUDGE_GROUP", "TURNJUDGE_HTTP_HOST", "TURNJUDGE_HTTP_PORT")


class Feed:
    """Turns that keep coming, some 100 a second."""

    def __init__(self, made: World) -> None:
        rng = random.Random(12)
        self.cards, self.lexicon = make_cards(rng, 5, plain=True), make_lexicon(rng, 30)
        self.sent = 0
        self._world = made
        self._turns = make_bench_turns(rng, 100_000, self.cards, self.lexicon)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        made.load(self.cards, self.lexicon)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._world.flush()

    def _run(self) -> None:
        source = self._world.settings.topics.chat_turns
        while not self._stopping.wait(0.01):
            turn = next(self._turns)
            self._world.send(source, json.dumps(turn, ensure_ascii=False).encode(), turn["session_id"].encode())
            self.sent += 1


def pod(made: World, number: int, given: dict[str, str]) -> Worker:
    """Start a worker as the StatefulSet would start its pod."""
    name = f"turnjudge-worker-{number}"
    return made.worker(
        **{key.removeprefix("TURNJUDGE_").lower(): value for key, value in given.items()} | {"group_instance_id": name}
    )


def held(worker: Worker) -> int:
    return int(worker.metric("judge_assigned_partitions"))


@pytest.mark.needs("deploy")
@pytest.mark.timeout(300)
def test_a_rolling_restart_moves_no_partition_of_another_worker(kafka: KafkaBroker) -> None:
    (stateful,) = of_kind("base", "StatefulSet")
    given = {key: value for key, value in settings("base", "turnjudge-worker").items() if key not in OWN}
    del given["TURNJUDGE_GROUP_INSTANCE_ID"]  # the pod's name
    replicas: int = stateful["spec"]["replicas"]
    with world(kafka.bootstrap, rebalance_timeout_s=60.0, settle_timeout_s=10.0) as made:
        made.create(PARTITIONS)
        feed = Feed(made)
        workers = [pod(made, number, given) for number in range(replicas)]
        wait_for("all partitions are held", lambda: sum(map(held, workers)) == PARTITIONS, 90)
        for worker in workers:
            worker.await_ready()
        feed.start()
        wait_for("turns are judged", lambda: made.committed() > 200)
        for number in reversed(range(replicas)):  # a StatefulSet begins at the end
            others = [worker for worker in workers if worker is not workers[number]]
            before = [(held(each), each.metric("judge_rebalances_total")) for each in others]
            mine, began_s = held(workers[number]), time.monotonic()
            assert workers[number].end() == 0
            stopped_s = time.monotonic() - began_s
            workers[number] = pod(made, number, given)
            workers[number].await_ready()
            away_s = time.monotonic() - began_s
            print(f"worker {number}: stopped in {stopped_s:.1f} s, judging after {away_s:.1f} s")  # noqa: T201
            assert held(workers[number]) == mine
            assert [(held(each), each.metric("judge_rebalances_total")) for each in others] == before
            assert away_s < float(given["TURNJUDGE_SESSION_TIMEOUT_S"])
        feed.stop()
        wait_for("everything is judged", lambda: made.committed() == feed.sent, 60)
        counts = check_outcomes(made, snapshot_of(feed.cards, feed.lexicon))
        # Everyone stopped in order, so nothing was judged twice either.
        assert counts == {"turns": feed.sent, "verdicts": feed.sent, "letters": 0}
        print(counts)  # noqa: T201
