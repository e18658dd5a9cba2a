"""Review: what waits for people, and what the page's rows say."""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Dashboard

from deploy.grafana.boards import dashboard
from deploy.grafana.panels import SERIES as S
from deploy.grafana.panels import Limit, figure, lines, page_rows

QUEUES: Final = (
    figure(
        "Waiting", "Items that wait for a reviewer, in all queues.", "short", f"sum(judge_review_pending{S})", width=6
    ),
    figure(
        "The oldest waits",
        "How long the oldest item has waited. An alert comes after a day.",
        "s",
        f"time() - min(judge_review_oldest_pending_timestamp_seconds{S} > 0)",
        limits=(Limit(86_400, "red"),),
        width=6,
    ),
    lines(
        "Waiting, by queue",
        "Items that wait for a reviewer.",
        "short",
        (f"sum by (queue) (judge_review_pending{S})", "{{queue}}"),
    ),
)

ROWS: Final = (
    page_rows(
        "Verdicts by character",
        "Of the time shown, worst first, from 20 turns on.",
        """
              SELECT character_id AS "character", count(*) AS "turns",
                round(avg(CASE WHEN verdict = '설정대로 말함' THEN 0 ELSE 1 END), 3) AS "breaks the card",
                count(*) FILTER (WHERE verdict = '금지 소재 접촉') AS "금지 소재 접촉",
                count(*) FILTER (WHERE verdict = '세계관 밖 고유명사') AS "세계관 밖 고유명사",
                count(*) FILTER (WHERE verdict = '말투 어긋남') AS "말투 어긋남",
                count(*) FILTER (WHERE verdict = '앞 회차를 기억 못 함') AS "앞 회차를 기억 못 함",
                count(*) FILTER (WHERE hedged = 1) AS "with a hedge"
              FROM turn_rows
              WHERE place IS NOT NULL AND state = 'judged' AND occurred_ms BETWEEN $__from AND $__to
              GROUP BY character_id HAVING count(*) >= 20 ORDER BY 3 DESC, 2 DESC, 1 LIMIT 200
              """,
        height=12,
    ),
    page_rows(
        "Answers, by queue",
        "Of the time shown: what reviewers answered and did not take back. Only drawn items say how often a queue is "
        "right; those chosen by hand stand for nothing but themselves.",
        """
              SELECT samples.queue AS "queue", decisions.answer AS "answer",
                count(*) FILTER (WHERE samples.by_hand = 0) AS "of drawn items",
                count(*) FILTER (WHERE samples.by_hand = 1) AS "of items chosen by hand"
              FROM decisions
              JOIN sample_items ON sample_items.id = decisions.item_id
              JOIN samples ON samples.id = sample_items.sample_id
              WHERE decisions.undone_ms IS NULL AND decisions.at_ms BETWEEN $__from AND $__to
              GROUP BY samples.queue, decisions.answer ORDER BY 1, 3 DESC, 2
              """,
    ),
    page_rows(
        "Refused by reason",
        "Of the time shown: turns that got no verdict, by reason and character.",
        """
              SELECT reason AS "reason", character_id AS "character", count(*) AS "turns"
              FROM turn_rows
              WHERE place IS NOT NULL AND state = 'refused' AND occurred_ms BETWEEN $__from AND $__to
              GROUP BY reason, character_id ORDER BY 3 DESC, 1, 2 LIMIT 100
              """,
        width=12,
    ),
    page_rows(
        "All rows of the page",
        "Whatever the time: the rows shown on the page, by verdict.",
        """
              SELECT CASE verdict WHEN '' THEN 'refused' ELSE verdict END AS "verdict", sum(shown) AS "turns"
              FROM tallies GROUP BY verdict ORDER BY 2 DESC
              """,
        width=12,
    ),
)


def review() -> Dashboard:
    """Make the dashboard."""
    return dashboard(
        "turnjudge-review",
        "turnjudge: review",
        "What waits for people, and with which characters?",
        (("Queues", QUEUES), ("Characters", ROWS)),
        source="judge_review_pending",
        page=True,
    )
