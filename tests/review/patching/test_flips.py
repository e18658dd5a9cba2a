"""What would flip, worked out over the turns of the page: held to verdicts of a second load with the change made."""

from pathlib import Path

from sqlalchemy import Engine

from review.made import TERM
from review.patching.desk import BENCH, CARD, filled, turn
from rules.profile import SEED
from schemas.card import Card
from schemas.lexicon import Entry
from schemas.verdict import VerdictWord
from service.evaluate.agreement import FIXED
from service.evaluate.changing import MOVED
from service.review.patching.cards import patched
from service.review.patching.flips import Flip, Flips, flips
from service.review.store import queries
from service.review.store.opening import reading
from service.snapshot import Snapshot, snapshot

LEXICON = [Entry(TERM["term"], TERM["topic"], 1)]
OTHER = CARD._replace(character_id="돌")
TURNS = (
    turn("T-1", "여울이 왔어.", "여울"),
    turn("T-2", "모래성에 가자.", "모래성"),
    turn("T-3", "모래성에 가요.", "모래성"),
    turn("T-4", "소나기다.", "모래성"),
    turn("T-5", "모래성과 바람골이야.", "모래성", "바람골"),
    turn("T-6", "글쎄.", "모래성", user_message="내 동생 이름이 뭐였지?", user_asked_recall=True),
    turn("T-7", "모래성에 가자.", "모래성", character_id="돌"),
    turn("T-8", "모래성에 가자.", "모래성", character_id="카드 없는 이"),
)


def by(*cards: Card) -> Snapshot:
    return snapshot(cards, LEXICON, SEED)


def previewed(engine: Engine, after: Card, *characters: str, most: int = 10_000) -> Flips:
    with reading(engine) as connection:
        return flips(connection, characters or ("나무",), (by(CARD, OTHER), by(after, OTHER)), BENCH.caps, most)


def test_a_name_put_on_a_card_flips_what_was_off_canon_by_it_alone(engine: Engine, tmp_path: Path) -> None:
    filled(engine, tmp_path, *TURNS, cards=(CARD, OTHER))
    after = patched(CARD, ["모래성"]).after
    found = previewed(engine, after)
    off, kept = VerdictWord.OFF_CANON.value, VerdictWord.KEPT.value
    assert found.shown == (
        Flip("S-1", "T-2", FIXED, off, kept),
        Flip("S-1", "T-3", MOVED, off, VerdictWord.SPEECH_BROKEN.value),
        Flip("S-1", "T-6", MOVED, off, VerdictWord.FORGOT.value),
    )
    assert found.kinds == {FIXED: 1, MOVED: 2}
    assert (found.turns, found.flipped, found.other, found.bounded) == (6, 3, 0, False)
    # The second load is judged by the changed card: what it lists is what the preview foretold.
    filled(engine, tmp_path, *TURNS, cards=(after, OTHER))
    with reading(engine) as connection:
        for flip in found.shown:
            row = queries.row(connection, flip.session_id, flip.turn_id)
            assert row is not None
            assert row.verdict == flip.after


def test_what_is_listed_otherwise_than_it_would_be_judged_now_is_counted(engine: Engine, tmp_path: Path) -> None:
    filled(engine, tmp_path, *TURNS, cards=(CARD._replace(canon_entities=("모래성",)), OTHER))
    found = previewed(engine, patched(CARD, ["모래성"]).after)
    # T-1 named 여울 off that card, and T-2, T-3 and T-6 did not name 모래성 off it.
    assert found.other == 4
    assert found.flipped == 3


def test_no_change_flips_nothing(engine: Engine, tmp_path: Path) -> None:
    filled(engine, tmp_path, *TURNS)
    found = previewed(engine, CARD)
    assert (found.flipped, found.kinds, found.moves, found.shown) == (0, {}, {}, ())
    assert found.turns == 6


def test_more_turns_than_are_looked_at_are_said(engine: Engine, tmp_path: Path) -> None:
    many = [turn(f"T-{number}", "모래성에 가자.", "모래성", session_id=f"S-{number}") for number in range(500)]
    filled(engine, tmp_path, *many)
    found = previewed(engine, patched(CARD, ["모래성"]).after, most=100)
    assert found.bounded
    assert 100 <= found.turns < 500
    assert found.flipped == found.turns
    assert len(found.shown) == 50
    # The newest sessions are the ones looked at.
    assert {flip.turn_id for flip in found.shown} <= {f"T-{number}" for number in range(250, 500)}
    whole = previewed(engine, patched(CARD, ["모래성"]).after)
    assert (whole.turns, whole.bounded) == (500, False)
