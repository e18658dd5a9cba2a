"""Topics and spikes: which forbidden topics are touched, and which suddenly more."""

from collections.abc import Iterator
from typing import Any, Final

from grafana_foundation_sdk.builders.timeseries import Panel
from grafana_foundation_sdk.models.dashboard import Dashboard

from deploy.grafana.boards import dashboard
from deploy.grafana.panels import CHOSEN, Limit, lines, page_rows, rows
from deploy.grafana.panels import SERIES as S

_TOPIC: Final = f'{{{CHOSEN}, topic=~"$topic"}}'
_RULE: Final = '{job=~"$job", topic=~"$topic"}'

TOUCHES: Final = (
    lines(
        "Sessions that touch a topic",
        "First touches by a session within an hour: what spikes are counted on. A "
        "session that stays on a topic counts once.",
        "short",
        (f"sum by (topic) (increase(judge_topic_sessions_total{_TOPIC}[$__rate_interval]))", "{{topic}}"),
    ),
    lines(
        "Turns that touch a topic",
        "Every touch. Far above the sessions: few sessions stay on it.",
        "short",
        (f"sum by (topic) (increase(judge_topic_hits_total{_TOPIC}[$__rate_interval]))", "{{topic}}"),
    ),
    lines(
        "Touches of 1,000 turns",
        "Sessions that touched a topic, to the turns judged: what more traffic does not move.",
        "short",
        (
            f"1000 * sum by (topic) (rate(judge_topic_sessions_total{_TOPIC}[$__rate_interval])) / ignoring (topic) "
            f"group_left () sum(rate(judge_verdicts_total{S}[$__rate_interval]))",
            "{{topic}}",
        ),
    ),
    lines(
        "Turns a session",
        "Touches to touching sessions. It rises when one session goes on and on.",
        "short",
        (
            f"sum by (topic) (increase(judge_topic_hits_total{_TOPIC}[1h])) / "
            f"(sum by (topic) (increase(judge_topic_sessions_total{_TOPIC}[1h])) > 0)",
            "{{topic}}",
        ),
    ),
)


def _windows(title: str, description: str, series: str, **shown: Any) -> Iterator[Panel]:
    """Make a panel for each window of a recorded series; the first says what it shows."""
    for window, name, words in (("5m", "5 min", ""), ("30m", "30 min", "30 minutes"), ("2h", "2 h", "2 hours")):
        text = f"The same over {words}." if words else description
        query = f"job_topic:judge_topic_spike:{series}{window}{_RULE}"
        yield lines(f"{title}, {name}", text, "short", (query, "{{topic}}"), width=8, **shown)


SPIKES: Final = (
    *_windows(
        "Distance",
        "How far the last 5 minutes are from the day before, in standard deviations. An alert asks for more than 4.5, "
        "and for floors of count and effect besides.",
        "zscore",
        least=None,
        limits=(Limit(4.5, "red"),),
    ),
    *_windows("Times", "How many times as often as on the day before.", "rate_ratio"),
)

STREAM: Final = (
    lines(
        "Spikes open, in the stream",
        "Spikes that `turnjudge spikes` has opened and not closed, by its exact test over the turns' own time. It "
        "knows characters too, and a replay is none. The events stand on topic-spikes and on the page.",
        "short",
        ("sum by (level) (spikes_open)", "{{level}}"),
        width=8,
    ),
    lines(
        "Opened and closed",
        "Events that were published.",
        "short",
        ("sum by (level, state) (increase(spikes_events_total[$__rate_interval]))", "{{level}} {{state}}"),
        width=8,
    ),
    lines(
        "Verdicts not looked at yet",
        "Verdicts behind the end of their topic, and those that wait for their minute to be complete.",
        "short",
        ("sum(spikes_lag_records)", "behind"),
        ("sum(spikes_waiting_records)", "waiting"),
        width=8,
    ),
    lines(
        "Keys",
        "Topics, and topics of characters, that were touched within a day; and those that cannot be compared yet.",
        "short",
        ("sum by (level) (spikes_live_keys)", "{{level}}"),
        ("sum by (level) (spikes_cold_keys)", "{{level}}, cold"),
    ),
    lines(
        "No day to compare with",
        "1 while there is no day of verdicts to compare with: no spike is told then.",
        "none",
        ("max(spikes_cold)", "cold"),
        most=1,
    ),
)

TOLD: Final = (
    page_rows(
        "Spikes, as the page has them",
        "Those that went on within the time shown, newest first: sessions within the window and in what it is held to. "
        "Without a character, all of them together. Open the page for their turns.",
        """
              SELECT to_timestamp(opened_ms / 1000.0) AS "opened", to_timestamp(at_ms / 1000.0) AS "last told",
                state AS "state", topic AS "topic", character_id AS "character", window_s AS "window, s",
                observed AS "touching sessions", exposure AS "of sessions",
                baseline_observed AS "touching before", baseline_exposure AS "of sessions before",
                ratio AS "times", p_value AS "p"
              FROM spikes
              WHERE at_ms >= $__from AND opened_ms <= $__to
              ORDER BY opened_ms DESC, topic, character_id LIMIT 100
              """,
    ),
)

NOW: Final = (
    rows(
        "Touching sessions, 24 h",
        "Sessions by topic within a day.",
        "short",
        (f"sort_desc(sum by (topic) (increase(judge_topic_sessions_total{_TOPIC}[24h])))", ""),
        width=8,
        height=10,
    ),
    page_rows(
        "Characters and topics",
        "Of the time shown, by the page's rows: which characters touched which topic, in "
        "how many turns. Open the page for the turns.",
        """
              SELECT character_id AS "character", touched_topic AS "topic", count(*) AS "turns"
              FROM turn_rows
              WHERE place IS NOT NULL AND verdict = '금지 소재 접촉' AND occurred_ms BETWEEN $__from AND $__to
              GROUP BY character_id, touched_topic ORDER BY count(*) DESC, character_id, touched_topic LIMIT 100
              """,
        width=16,
        height=10,
    ),
)


def topics() -> Dashboard:
    """Make the dashboard."""
    return dashboard(
        "turnjudge-topics",
        "turnjudge: topics and spikes",
        "Which forbidden topics are touched, and which suddenly more?",
        (("Touches", TOUCHES), ("Against the day before", SPIKES), ("In the stream", (*STREAM, *TOLD)), ("Who", NOW)),
        source="judge_topic_sessions_total",
        more=(("topic", "topic", "judge_topic_sessions_total"),),
        page=True,
    )
