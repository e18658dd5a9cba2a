"""Faults of topics: one is missing, of other shape, takes less than it said, or was emptied."""

from contextlib import closing
from typing import Any

from kafka import TopicPartition
from kafka.admin import ConfigResource

from ledger.plan import large
from ledger.run import DEADLINE, FAILED, PARTITIONS, REFUSED, WORK, Run


def lose_verdict_topic(run: Run) -> None:
    """Delete the verdict topic under the workers: they must not go on as if nothing were."""
    run.quiet()
    run.archive(run.topics.turn_verdicts)
    with closing(run.admin()) as admin:
        admin.delete_topics([run.topics.turn_verdicts])
    run.until("it is gone", lambda: not run.world.has(run.topics.turn_verdicts))
    _while_it_is_wrong(run)
    run.until("it is there again", lambda: _created(run))
    run.struck["verdict topic missing"] += 1
    run.work(WORK)


def _created(run: Run) -> bool:
    run.world.create(PARTITIONS)
    return True


def shrink_verdict_topic(run: Run) -> None:
    """Give the verdict topic fewer partitions than the turns have."""
    name = run.topics.turn_verdicts
    run.quiet()
    run.archive(name)
    with closing(run.admin()) as admin:
        admin.delete_topics([name])
        run.until("it is gone", lambda: not run.world.has(name))
        admin.create_topics({name: {"num_partitions": PARTITIONS - 1, "replication_factor": 1}})
        _while_it_is_wrong(run)
        run.fleet.kill_all()
        run.feeder.pause()
        run.archive(name)
        admin.delete_topics([name])
    run.until("it is gone", lambda: not run.world.has(name))
    run.until("it is there again", lambda: _created(run))
    run.struck["verdict topic of other partition count"] += 1
    run.feeder.resume()
    for _ in range(2):
        run.fleet.join()
    run.work(WORK)


def _while_it_is_wrong(run: Run) -> None:
    """Feed, and see that a worker which starts now refuses to."""
    run.allowed |= {FAILED, REFUSED, DEADLINE}
    run.feeder.resume()
    run.feeder.burst(WORK)
    before = _refusals(run)
    run.fleet.join()
    run.until("a worker refuses to start", lambda: _refusals(run) > before)
    run.pause(0.0, 3.0)


def _refusals(run: Run) -> int:
    return sum(each.code == REFUSED and "topics: " in each.output for each in run.fleet.ended)


def lower_limit(run: Run) -> None:
    """Let the broker take smaller records than the workers were told, and send larger ones."""
    name, key = run.topics.turn_verdicts, "max.message.bytes"
    run.allowed |= {FAILED, REFUSED, DEADLINE}
    run.until("a worker judges, who was told the old limit", lambda: any(map(run.ready, run.fleet.running)))
    with closing(run.admin()) as admin:
        admin.alter_configs([ConfigResource("TOPIC", name, configs={key: "20000"})])
        run.feeder.add(large(run.rng, run.plan, 20, 9_000))
        run.feeder.burst(WORK)
        run.until("a worker ends", lambda: any(each.code == FAILED for each in run.fleet.ended))
        run.until("a worker refuses to start", lambda: _refusals(run))
        admin.alter_configs([ConfigResource("TOPIC", name, configs={key: str(2 * 1024 * 1024)})])
    run.struck["record too large for the broker"] += 1
    run.work(WORK)


def truncate_reference(run: Run) -> None:
    """Empty the reference topics under the workers, kill one, and load them again."""
    names = (run.topics.character_cards, run.topics.topic_lexicon)
    with closing(run.admin()) as admin:
        _set_policy(admin, names, "compact,delete")
        ends = {TopicPartition(name, 0): -1 for name in names}
        admin.delete_records(ends)
        _set_policy(admin, names, "compact")
    run.history.always.clear()
    run.work(WORK)
    run.a_worker().process.kill()
    run.feeder.burst(WORK)
    run.pause(2.0, 5.0)
    run.history.reload()
    run.struck["reference topics truncated"] += 1
    run.work(WORK)


def _set_policy(admin: Any, names: tuple[str, ...], policy: str) -> None:
    admin.alter_configs([ConfigResource("TOPIC", name, configs={"cleanup.policy": policy}) for name in names])
