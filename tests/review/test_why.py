"""Why a row has its verdict, from what the database keeps; and where that cannot be said, why not."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import Engine, delete, select, update

from deciding import CAPS, CARD, LEXICON, Row, outcomes, turn
from files.commands import write_rows
from review.pages.desk import page
from service.profiles import read_profiles
from service.review.bench import Bench
from service.review.loading.files import File, Files
from service.review.loading.sample import CHARACTER, load_sample
from service.review.loading.uploading import load
from service.review.store import loads
from service.review.store.batch import Batch, CardChange, Judged, LexiconChange, RefusedTurn
from service.review.store.opening import reading, writing
from service.review.store.tables import CARDS, LEXICONS, TURN_ROWS
from service.review.store.writing import write
from service.review.why import Unexplained, why
from service.snapshot import Snapshot, snapshot
from service.step import Accepted
from service.working.explained import Explained

BENCH = Bench(CAPS, read_profiles("seed"))
KNOWN = snapshot([CARD], LEXICON, *BENCH.profiles)
NAMING = turn(turn_id="T-1", named_entities=["하늘"], reply_text="하늘이 왔어.")
ASKING = turn(turn_id="T-2", reply_text="글쎄.", user_asked_recall=True, user_message="동생 이름 기억나?")
DAY_MS = 86_400_000


def fill(engine: Engine, rows: list[Row], known: Snapshot = KNOWN, apart_ms: int = 1, first: int = 0) -> None:
    """Write rows as the live loading does, a given time apart, from an offset on."""
    judged, refused = [], []
    for offset, outcome in enumerate(outcomes(rows, known), start=first):
        result, at_ms = outcome.result, offset * apart_ms
        assert result.turn is not None
        if isinstance(result, Accepted):
            digests = (result.card, known.book.digest, result.profile)
            codes = tuple(result.codes)
            judged.append(Judged(f"v{offset}", result.turn, result.value, codes, 9, offset, at_ms, *digests))
        else:
            refused.append(RefusedTurn(f"v{offset}", result.turn, result.reason, "d", 9, offset, at_ms))
    lexicon = LexiconChange(known.book.entries, known.book.digest, 1)
    cards = [CardChange(each.facts.card.character_id, each.facts.card, 1) for each in known.characters.values()]
    with writing(engine) as connection:
        write(connection, Batch(judged=judged, refused=refused, cards=cards, lexicons=[lexicon]))


def asked(engine: Engine, turn_id: str, **more: Any) -> Explained | Unexplained:
    with reading(engine) as connection:
        row_id = connection.scalar(select(TURN_ROWS.c.id).where(TURN_ROWS.c.turn_id == turn_id)) or 0
        return why(connection, row_id, BENCH._replace(**more))


def test_a_recall_is_worked_out_from_the_rows_of_its_session(engine: Engine) -> None:
    fill(engine, [NAMING, ASKING])
    answer = asked(engine, "T-2")
    assert isinstance(answer, Explained)
    assert answer.verdict["verdict"] == "앞 회차를 기억 못 함"
    assert answer.working.met.roles is not None
    assert answer.working.met.roles[0].source_turn == "T-1"


def test_a_turn_without_a_card_has_named_and_is_not_explained_itself(engine: Engine) -> None:
    fill(engine, [NAMING | {"character_id": "N"}, ASKING])
    assert asked(engine, "T-1") is Unexplained.NO_VERDICT
    answer = asked(engine, "T-2")
    assert isinstance(answer, Explained)
    assert answer.working.verdict == "앞 회차를 기억 못 함"


def test_an_id_that_comes_later_does_not_count_as_earlier(engine: Engine) -> None:
    fill(engine, [ASKING, NAMING])
    answer = asked(engine, "T-2")
    assert isinstance(answer, Explained)
    assert answer.working.verdict == "설정대로 말함"


def test_names_that_the_worker_still_knew_are_known_and_others_make_a_difference(engine: Engine) -> None:
    fill(engine, [NAMING, ASKING], apart_ms=40 * DAY_MS)
    assert isinstance(asked(engine, "T-2"), Explained)
    assert asked(engine, "T-2", ttl_ms=30 * DAY_MS) is Unexplained.DIFFERS


def test_what_was_heard_in_an_item_is_worked_out_with_the_memory_of_the_workers(
    engine: Engine, url: str, tmp_path: Path
) -> None:
    fill(engine, [NAMING])
    fill(engine, [ASKING | {"reply_text": "글쎄. 몰라요."}], apart_ms=40 * DAY_MS, first=1)
    with page(tmp_path, page_db=url) as client:
        item = client.post("/review/draw", data={"queue": "mixed_speech", "size": "1", "seed": "1", "reviewers": "1"})
    assert '<mark class="ending" lang="ko">몰라요</mark></td>' in item.text
    assert "다시 판정하니" not in item.text


@pytest.mark.parametrize("profile", ["seed", "extended"])
def test_the_profile_is_the_one_that_judged(engine: Engine, profile: str) -> None:
    known = snapshot([CARD], LEXICON, *read_profiles(profile))
    fill(engine, [turn(turn_id="T-3", reply_text="선거다.")], known)
    answer = asked(engine, "T-3")
    assert isinstance(answer, Explained)
    assert answer.profile == profile


def test_what_is_not_kept_is_named(engine: Engine) -> None:
    fill(engine, [NAMING, ASKING])
    extended = read_profiles("extended")[:1]
    assert asked(engine, "T-1", profiles=extended) is Unexplained.OTHER_PROFILE
    assert asked(engine, "T-7") is Unexplained.NO_VERDICT
    for table, reason in ((LEXICONS, Unexplained.NO_LEXICON), (CARDS, Unexplained.NO_CARD)):
        with writing(engine) as connection:
            connection.execute(delete(table))
        assert asked(engine, "T-1") is reason


def test_a_verdict_that_does_not_come_out_again_is_not_explained(engine: Engine) -> None:
    fill(engine, [NAMING])
    with reading(engine) as connection:
        record = orjson.loads(connection.scalar(select(TURN_ROWS.c.record)) or "")
    for change, is_explained in (({"summary": "다른 말입니다."}, True), ({"verdict": "말투 어긋남"}, False)):
        with writing(engine) as connection:
            connection.execute(update(TURN_ROWS).values(record=orjson.dumps(record | change).decode()))
        assert isinstance(asked(engine, "T-1"), Explained) == is_explained


def test_rows_of_a_file_see_the_whole_file(engine: Engine, tmp_path: Path) -> None:
    # T-1 stands below T-2 and is earlier all the same.
    entries: list[Row] = [each._asdict() for each in LEXICON]
    card = CARD._asdict() | {"entity_roles": [role._asdict() for role in CARD.entity_roles]}
    rows = {
        "turns": [ASKING, NAMING],
        "cards": [card],
        "lexicon": [{"term": e["term"], "topic": e["topic"]} for e in entries],
    }
    files = {kind: File(kind, write_rows(tmp_path / f"{kind}.jsonl", some)) for kind, some in rows.items()}
    load(engine, Files(**files), BENCH, "somebody", lambda done, total: None)
    answer = asked(engine, "T-2")
    assert isinstance(answer, Explained)
    assert answer.working.verdict == "앞 회차를 기억 못 함"


def test_a_card_that_verdicts_name_stays_when_its_load_is_gone(engine: Engine, tmp_path: Path) -> None:
    assert load_sample(engine, BENCH) is not None
    file = tmp_path / "turns.jsonl"
    write_rows(file, [turn(turn_id="T-1", character_id=CHARACTER)])
    done = load(engine, Files(turns=File("turns.jsonl", file)), BENCH, "me", lambda done, of: None)
    assert done is not None
    assert done.judged == 1
    loads.sweep(engine)
    with reading(engine) as connection:
        assert not loads.is_sample(connection)
    assert isinstance(asked(engine, "T-1"), Explained)


def test_names_that_the_worker_forgot_are_no_earlier_names(engine: Engine) -> None:
    fill(engine, [NAMING, ASKING], apart_ms=DAY_MS)
    assert isinstance(asked(engine, "T-2", ttl_ms=2 * DAY_MS), Explained)
    assert asked(engine, "T-2", ttl_ms=DAY_MS) is Unexplained.DIFFERS
