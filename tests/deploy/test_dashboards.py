"""The dashboards are what the code gives, keep to the rules of good dashboards, and every query has data."""

import re
import subprocess
import time
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import pg8000.native
import pytest
from prometheus_client import Counter, Histogram

from brokers import KafkaBroker
from deploy.boards import dashboards, filled, job_of, panels
from deploy.catalogue import named, rules, series
from deploy.rig import Rig, rig
from deploy.scraping import Prometheus
from postgres import Postgres
from services import ROOT, postgres_folder
from stream.world import wait_for

BOARDS = dashboards()
PARTS = {
    "overview": "turnjudge-overview",
    "topics": "turnjudge-topics",
    "models": "turnjudge-models",
    "worker": "turnjudge-worker",
    "review": "turnjudge-review",
}
# Recorded series have no instance; the canary and the detector of spikes are other jobs than the workers that the
# variables choose from; an alert's job is the rule's.
WITHOUT_INSTANCE = re.compile(r"job_topic:|ALERTS|judge_canary_|spikes_")
WITHOUT_JOB = re.compile(r"ALERTS|judge_canary_|spikes_")
# What no panel may show: chats, whose they are, and which reviewer answered what.
HIDDEN = {
    "turn_rows": ("turn", "record", "session_id", "turn_id", "summary", "touched_term", "off_canon"),
    "texts": ("folded",),
    "decisions": ("reviewer", "note", "extra", "verdict_id"),
    "sample_items": ("key", "session_id", "turn_id", "verdict_id"),
    "samples": ("who", "filters", "closed_by"),
    "spikes": ("spike_id",),
    "spike_turns": ("session_id", "turn_id"),
    "accesses": ("who", "session_id"),
}


class Where(NamedTuple):
    """Where a database of PostgreSQL is."""

    url: str
    port: int
    name: str
    password: str

    def connected(self, user: str, password: str) -> pg8000.native.Connection:
        """Connect to it."""
        return pg8000.native.Connection(user, password=password, host="127.0.0.1", port=self.port, database=self.name)


class Query(NamedTuple):
    """A query of a panel."""

    board: str
    panel: str
    text: str
    is_sql: bool


def queries() -> list[Query]:
    return [
        Query(name, panel["title"], target.get("expr") or target["rawSql"], "rawSql" in target)
        for name, board in BOARDS.items()
        for panel in panels(board)
        for target in panel["targets"]
    ]


PROMQL = [query for query in queries() if not query.is_sql]
SQL = [query for query in queries() if query.is_sql]


def identity(query: Query) -> str:
    return f"{query.board}: {query.panel}"


def test_all_five_are_there() -> None:
    assert {name: board["uid"] for name, board in BOARDS.items()} == PARTS
    assert len(PROMQL) > 50
    assert len(SQL) >= 5


@pytest.mark.needs("deploy")
def test_they_are_what_the_code_gives_and_every_query_is_promql() -> None:
    python = ROOT / ".venv-deploy/bin/python"
    done = subprocess.run([python, "-m", "deploy.build", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    probe = "from deploy.build import unparsed; print(unparsed('sum(rate(a[$__rate_interval])'), unparsed('up'))"
    told = subprocess.run([python, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told.endswith(" None\n")
    assert not told.startswith("None")  # a query that lacks a bracket is refused, or the check above shows nothing


@pytest.mark.parametrize("name", BOARDS)
def test_a_dashboard_is_set_up_as_it_should_be(name: str) -> None:
    board = BOARDS[name]
    variables = {each["name"]: each for each in board["templating"]["list"]}
    assert board["editable"] is False
    assert board["tags"] == ["turnjudge"]
    assert board["description"]
    assert variables["datasource"]["type"] == "datasource"
    assert set(board) <= {
        *("annotations", "description", "editable", "fiscalYearStartMonth", "graphTooltip", "links", "panels"),
        *("refresh", "schemaVersion", "tags", "templating", "time", "timezone", "title", "uid"),
    }
    for each in variables.values():
        if each["type"] == "query":
            assert each["refresh"] == 2  # when the time changes
            # All jobs are those of the list: a page that is up is no worker.
            assert each.get("allValue") == (None if each["name"] in ("job", "instance") else ".+")
            assert re.fullmatch(r"label_values\([a-z_]+(\{[^}]+\})?, [a-z_]+\)", each["query"])
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)
    titles = [panel["title"] for panel in panels(board)]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", BOARDS)
def test_panels_tell_what_they_are_and_do_not_overlap(name: str) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARDS[name]["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not cells & taken
        taken |= cells
    for panel in panels(BOARDS[name]):
        assert panel["title"] == panel["title"].strip()
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["targets"]
        assert panel["datasource"]["uid"] in ("${datasource}", "${page}")
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
        assert all(target["datasource"] == panel["datasource"] for target in panel["targets"])


@pytest.mark.parametrize("query", PROMQL, ids=identity)
def test_a_query_asks_rightly(query: Query) -> None:
    known = series()
    ours = set(named(query.text))
    recorded = {rule.name for rule in rules() if not rule.is_alert}
    assert ours <= {*known, *recorded}
    for call, window in re.findall(r"\b(rate|irate|increase)\([^\[]*\[([^\]]+)\]", query.text):
        assert window in ("$__rate_interval", "1h", "24h"), call
    for name in ours & set(known):
        if known[name].kind in (Counter, Histogram):
            uses = len(re.findall(rf"\b{name}\b", query.text))
            assert len(re.findall(rf"\b(?:rate|increase)\({name}\b", query.text)) == uses
    matchers = re.findall(r"([a-zA-Z_:][\w:]*)\{([^}]*)\}", query.text)
    for name, inner in matchers:
        assert 'job=~"$job"' in inner or WITHOUT_JOB.match(name)
        assert 'instance=~"$instance"' in inner or WITHOUT_INSTANCE.match(name)
    assert ours <= {name for name, _ in matchers} | {name for name in ours if WITHOUT_JOB.match(name)}


def test_every_metric_of_the_workers_is_on_a_dashboard() -> None:
    shown = set(chain.from_iterable(named(query.text) for query in PROMQL))
    families = {row.name for name, row in series().items() if name in shown}
    ours = {row.name for row in series().values() if row.name.startswith("judge_")}
    assert ours - families == set()


# On real data.


@pytest.fixture(scope="module")
def database() -> Iterator[Where | None]:
    """An empty PostgreSQL for the page's rows, where this machine has one."""
    if postgres_folder() is None:
        yield None
        return
    with Postgres() as server:
        url = server.database()
        yield Where(url, server.port, url.rsplit("/", 1)[1], server.password)


@pytest.fixture(scope="module")
def seeded(kafka: KafkaBroker, database: Where | None) -> Iterator[tuple[Rig, Prometheus]]:
    page_db = None if database is None else database.url
    with rig(kafka.bootstrap, lambda at_s: (80.0, 10.0), page_db=page_db) as (made, prometheus):
        wait_for("a thousand turns", lambda: made.turns > 1_000, 60)
        wait_for("rules looked back a day", lambda: prometheus.query("job_topic:judge_topic_spike:rate_ratio2h"), 60)
        yield made, prometheus


@pytest.mark.needs("prometheus")
@pytest.mark.needs("kafka")
def test_every_query_has_data_on_a_prometheus_fed_by_a_worker(seeded: tuple[Rig, Prometheus]) -> None:
    _, prometheus = seeded

    def found(query: Query) -> list[Any]:
        return prometheus.query(filled(query.text, job_of(BOARDS[query.board])))

    def counts() -> dict[Query, int]:
        return {query: len(found(query)) for query in PROMQL}

    wait_for("every query has data", lambda: all(counts().values()), 30)
    for query, count in counts().items():
        print(f"{count:4d} series  {identity(query)}  {query.text}")  # noqa: T201 - what -s shows
        values = [float(row["value"][1]) for row in found(query)]
        assert any(value == value for value in values), query


@pytest.fixture(scope="module")
def reader(seeded: tuple[Rig, Prometheus], database: Where) -> Iterator[pg8000.native.Connection]:
    """The page's rows, as the role that Grafana has sees them."""
    owner = database.connected("turnjudge", database.password)
    count = "SELECT count(*) > 1000 AND bool_or(state = 'refused') FROM turn_rows WHERE place IS NOT NULL"
    wait_for("a thousand rows, refused ones too", lambda: owner.run(count)[0][0], 60)
    told = "SELECT count(DISTINCT state) = 2 FROM spikes"
    wait_for("spikes that go on and that ended", lambda: owner.run(told)[0][0], 60)
    owner.close()
    for _ in range(2):  # as often as one likes
        psql = [str((postgres_folder() or ROOT) / "psql"), "-h", "127.0.0.1", "-p", str(database.port)]
        psql += ["-U", "turnjudge", "-v", "ON_ERROR_STOP=1", "-v", "password=for grafana", "-d", database.name, "-q"]
        script = ROOT / "deploy/compose/grafana-reader.sql"
        done = subprocess.run([*psql, "-f", str(script)], env={"PGPASSWORD": database.password}, capture_output=True)
        assert done.returncode == 0, done.stderr
    connection = database.connected("grafana_reader", "for grafana")
    yield connection
    connection.close()


@pytest.mark.needs("postgres")
@pytest.mark.needs("prometheus")
@pytest.mark.needs("kafka")
def test_every_query_of_the_page_has_rows_and_needs_no_word_of_a_chat(reader: pg8000.native.Connection) -> None:
    now_ms = int(time.time() * 1000)
    for query in SQL:
        text = query.text.replace("$__from", str(now_ms - 3_600_000)).replace("$__to", str(now_ms))
        found = reader.run(text)
        print(f"{len(found):4d} rows    {identity(query)}")  # noqa: T201 - what -s shows
        assert found, query
        assert "%" not in text
    for table, columns in HIDDEN.items():
        for column in columns:
            with pytest.raises(pg8000.native.DatabaseError, match="permission denied"):
                reader.run(f"SELECT {column} FROM {table} LIMIT 1")  # noqa: S608 - names of this list
    with pytest.raises(pg8000.native.DatabaseError):
        reader.run("DELETE FROM tallies")
