"""Models: which model breaks cards, how, and with which characters."""

from typing import Final

from grafana_foundation_sdk.builders.timeseries import Panel
from grafana_foundation_sdk.models.dashboard import Dashboard

from deploy.grafana.boards import dashboard
from deploy.grafana.panels import CHOSEN, lines, page_rows, rows

_MODEL: Final = f'{CHOSEN}, model_id=~"$model_id"'


def _share(title: str, verdict: str, description: str, width: int) -> Panel:
    """Make a panel of a share of verdicts, by model; `verdict` is the matcher."""
    share = (
        f"sum by (model_id) (rate(judge_verdicts_total{{{_MODEL}, verdict{verdict}}}[$__rate_interval])) "
        f"/ sum by (model_id) (rate(judge_verdicts_total{{{_MODEL}}}[$__rate_interval]))"
    )
    return lines(title, description, "percentunit", (share, "{{model_id}}"), most=1, width=width)


SHARES: Final = (
    lines(
        "Turns by model",
        "Verdicts a second. Models beyond the first 50 count as other.",
        "cps",
        (f"sum by (model_id) (rate(judge_verdicts_total{{{_MODEL}}}[$__rate_interval]))", "{{model_id}}"),
        stacked=True,
    ),
    _share(
        "Share that breaks the card",
        '!="설정대로 말함"',
        "Verdicts other than 설정대로 말함, by model. Models get other prompts, so compare them before a release with "
        "`turnjudge compare-models`.",
        12,
    ),
)

WORDS: Final = tuple(
    _share(word, f'="{word}"', f"Share of a model's verdicts: {what}.", 6)
    for word, what in (
        ("금지 소재 접촉", "a forbidden topic was touched"),
        ("세계관 밖 고유명사", "a name that is not of the card's world"),
        ("말투 어긋남", "another speech level or first person"),
        ("앞 회차를 기억 못 함", "a name of an earlier turn was forgotten"),
    )
)

NOW: Final = (
    rows(
        "Verdicts, 24 h",
        "Verdicts by model and word within a day.",
        "short",
        (f"sum by (model_id, verdict) (increase(judge_verdicts_total{{{_MODEL}}}[24h]))", ""),
        width=10,
        height=12,
    ),
    page_rows(
        "Models and characters",
        "Of the time shown, by the page's rows: the share of turns that break the card, worst first, from 20 turns on.",
        """
              SELECT model_id AS "model", character_id AS "character", count(*) AS "turns",
                round(avg(CASE WHEN verdict = '설정대로 말함' THEN 0 ELSE 1 END), 3) AS "breaks the card"
              FROM turn_rows
              WHERE place IS NOT NULL AND state = 'judged' AND occurred_ms BETWEEN $__from AND $__to
              GROUP BY model_id, character_id HAVING count(*) >= 20
              ORDER BY 4 DESC, 3 DESC, model_id, character_id LIMIT 100
              """,
        width=14,
        height=12,
    ),
)


def models() -> Dashboard:
    """Make the dashboard."""
    return dashboard(
        "turnjudge-models",
        "turnjudge: models",
        "Which model breaks cards, how, and with which characters?",
        (("All mismatches", SHARES), ("By word", WORDS), ("Counts", NOW)),
        source="judge_verdicts_total",
        more=(("model_id", "model", "judge_verdicts_total"),),
        page=True,
    )
