"""Models: which model breaks cards, how, and with which characters."""

from typing import Final

from grafana_foundation_sdk.builders.timeseries import Panel
from grafana_foundation_sdk.models.dashboard import Dashboard

from deploy.grafana.panels import dashboard, lines, page_rows, rows

_MODEL: Final = 'job=~"$job", instance=~"$instance", model_id=~"$model_id"'

SHARES: Final = (
    lines(
        "Turns by model",
        "Verdicts a second. Models beyond the first 50 count as other.",
        "cps",
        (f"sum by (model_id) (rate(judge_verdicts_total{{{_MODEL}}}[$__rate_interval]))", "{{model_id}}"),
        stacked=True,
    ),
    lines(
        "Share that breaks the card",
        "Verdicts other than 설정대로 말함, by model. Models get other prompts, so compare "
        "them before a release with `turnjudge compare-models`.",
        "percentunit",
        (
            f'sum by (model_id) (rate(judge_verdicts_total{{{_MODEL}, verdict!="설정대로 말함"}}[$__rate_interval])) '
            f"/ sum by (model_id) (rate(judge_verdicts_total{{{_MODEL}}}[$__rate_interval]))",
            "{{model_id}}",
        ),
        most=1,
    ),
)


def _share(word: str, description: str) -> Panel:
    return lines(
        word,
        description,
        "percentunit",
        (
            f'sum by (model_id) (rate(judge_verdicts_total{{{_MODEL}, verdict="{word}"}}[$__rate_interval])) '
            f"/ sum by (model_id) (rate(judge_verdicts_total{{{_MODEL}}}[$__rate_interval]))",
            "{{model_id}}",
        ),
        most=1,
        width=6,
    )


WORDS: Final = (
    _share("금지 소재 접촉", "Share of a model's verdicts: a forbidden topic was touched."),
    _share("세계관 밖 고유명사", "Share of a model's verdicts: a name that is not of the card's world."),
    _share("말투 어긋남", "Share of a model's verdicts: another speech level or first person."),
    _share("앞 회차를 기억 못 함", "Share of a model's verdicts: a name of an earlier turn was forgotten."),
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
