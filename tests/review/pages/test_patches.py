"""Names off canon, from the sample to the published card, and mixed speech, from what was heard to the profile file."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from starlette.testclient import TestClient

from brokers import KafkaBroker
from review.made import CARD, files, lines
from review.pages.corpus import MARKUP, UNSEEN
from review.pages.desk import draw, loaded, log_in, page, tokens
from service.decode import Caps
from service.files.readers import read_cards
from service.profiles.words import read_words
from service.review.store import publications
from service.review.store.opening import opened, reading, writing
from service.review.store.reference import present_card
from service.review.store.tables import ACCESSES
from service.scan import held
from service.settings import JudgingSettings, KafkaSettings, load_settings
from stream.world import World, world

OFF: dict[str, Any] = {"character_id": "나무", "model_id": "m", "user_message": "누구?", "first_person": "나"}


def off(number: int, reply: str, *names: str, **changes: Any) -> dict[str, Any]:
    return (
        OFF
        | {"turn_id": f"T-{number}", "session_id": f"S-{number}", "reply_text": reply}
        | {"named_entities": names}
        | changes
    )


TURNS = [
    *(off(number, f"모래성 {number}층에 살아.", "모래성") for number in range(5)),
    off(5, "바람골에 가.", "바람골"),
    off(6, "모래성과 바람골이야.", "모래성", "바람골"),
    off(7, "먹구름이야.", "먹구름"),
    off(8, "그렇구나. 알았어요.", user_message="왔어?"),
    off(9, "밥은 먹었네여. 잘 자.", user_message="뭐 해?"),
    off(10, "밥은 먹었네여. 고마워요. 잘 자.", user_message="뭐 해?"),
]
FILES, NAMES = files(TURNS), "off_canon_names"


@pytest.fixture
def desk(tmp_path: Path, url: str) -> Iterator[TestClient]:
    with page(tmp_path, page_db=url) as client:
        loaded(client, **FILES)
        yield client


def numbers(client: TestClient, sample: int = 1) -> dict[str, str]:
    """Return the number of every name of a sample."""
    text = client.get(f"/review/names?sample={sample}").text
    return {name: number for number, name in re.findall(r'id="name-(\d+)-title"><strong lang="ko">([^<]+)<', text)}


def answer(client: TestClient, **answers: str) -> Response:
    at = numbers(client)
    given = {f"answer-{at[name]}": chosen for name, chosen in answers.items()}
    return client.post("/review/names", data={"sample": "1"} | given)


def decided(client: TestClient) -> None:
    draw(client, NAMES)
    done = answer(client, 모래성="add", 바람골="block", 먹구름="later")
    assert "다 답했습니다" in done.text


def flattened(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def test_names_are_a_table_with_counts_and_contexts_that_lead_to_turns(desk: TestClient, url: str) -> None:
    text = draw(desk, NAMES).text
    assert "카드에 더할 이름인가요, 막을 이름인가요?" in text
    rows = {name: flattened(row) for name, row in re.findall(r'<strong lang="ko">(\S+)</strong>(.*?)</tr>', text, re.S)}
    assert set(rows) == {"모래성", "바람골", "먹구름"}
    assert " 회차 6 나무 " in rows["모래성"]
    assert [f"T-{number}" in rows["모래성"] for number in range(7)] == [False, False, False, True, True, False, True]
    assert '<mark class="name">모래성</mark>' in text
    assert '<a class="id" href="/turn?session=S-6&amp;turn=T-6">T-6</a>' in text
    with opened(url) as engine, reading(engine) as connection:
        seen = {(row.what, row.session_id) for row in connection.execute(ACCESSES.select())}
    assert seen == {("review", f"S-{number}") for number in (3, 4, 5, 6, 7)}


def test_answers_are_kept_as_far_as_they_are_given(desk: TestClient) -> None:
    draw(desk, NAMES)
    assert desk.post("/review/names", data={"sample": "1"}).status_code == 409
    part = answer(desk, 모래성="add")
    assert "내 답: <strong>카드에 더함</strong>" in part.text
    assert part.text.count('type="radio"') == 6
    assert answer(desk, 바람골="no such").status_code == 409
    again = answer(desk, 모래성="block", 바람골="block")
    assert again.status_code == 409
    assert "먼저 그 답을 되돌려 주세요" in again.text
    assert "내 답: <strong>막음</strong>" in again.text
    desk.post("/review/undo", data={"sample": "1", "number": numbers(desk)["모래성"]})
    assert answer(desk, 모래성="block", 먹구름="later").url.path == "/review/sample"
    assert "나무 · 모래성" in desk.get("/review/sample?sample=1").text


def test_a_sample_of_names_is_drawn_again_from_the_same_rows(desk: TestClient) -> None:
    draw(desk, NAMES, size="2")
    assert "3개 가운데 2개" in desk.get("/review/sample?sample=1").text
    decided_names = numbers(desk)
    assert len(decided_names) == 2
    draw(desk, NAMES, size="2")
    assert numbers(desk, 2) == decided_names
    answer(desk, **dict.fromkeys(decided_names, "block"))
    assert "똑같은 표본입니다" in desk.get("/review/sample?sample=1&again=1").text
    assert "다른 표본의 답: 막음" in desk.get("/review/names?sample=2").text


def test_a_patch_is_previewed_and_handed_out(desk: TestClient, tmp_path: Path) -> None:
    assert desk.get("/review/cards/file").status_code == 404
    decided(desk)
    listed = flattened(desk.get("/review/cards").text)
    assert "나무 모래성 바람골 — local 뒤집힐 판정 미리 보기" in listed
    text = desk.get("/review/cards/preview?character=나무").text
    assert "11회차 가운데 5회차가 뒤집힙니다" in text
    assert "설정대로 말함이 됨" in text
    assert desk.get("/review/cards/preview?character=돌").status_code == 404
    answered = desk.get("/review/cards/file")
    assert answered.headers["content-disposition"] == 'attachment; filename="card-patch.jsonl"'
    (tmp_path / "patch.jsonl").write_bytes(answered.content)
    (card,) = read_cards(str(tmp_path / "patch.jsonl"), Caps()).records
    assert card.canon_entities == (*CARD["canon_entities"], "모래성")
    # Loading the file on the page is what the preview foretold.
    loaded(desk, turns=FILES["turns"], cards=("patch.jsonl", answered.content))
    assert "이미 카드에 있음: 모래성" in flattened(desk.get("/review/cards").text)
    assert "세계관 밖 고유명사 · 3" in flattened(desk.get("/").text)


def test_nothing_is_published_where_no_brokers_are_named(desk: TestClient) -> None:
    decided(desk)
    assert "브로커가 정해지지 않아" in desk.get("/review/cards").text
    refused = desk.post("/review/cards/publish", data={"character": "나무", "expected": ""})
    assert refused.status_code == 409
    assert "브로커가 정해지지 않아" in refused.text


def test_only_names_whose_answers_are_all_in_and_agree_are_added(tmp_path: Path) -> None:
    with page(tmp_path, page_token_file=tokens(tmp_path, sora="admin", minu="reviewer")) as client:
        log_in(client, "sora")
        loaded(client, **FILES)
        draw(client, NAMES, reviewers="2")
        answer(client, 모래성="add", 바람골="add", 먹구름="block")
        assert "아직 답이 모인 이름이 없습니다" in client.get("/review/cards").text
        log_in(client, "minu")
        assert "sora" not in client.get("/review/names?sample=1").text.partition("</header>")[2].partition("<aside")[0]
        answer(client, 모래성="add", 바람골="block")
        assert "나무 모래성 — 바람골 sora, minu" in flattened(client.get("/review/cards").text)


def test_the_names_of_a_turn_are_sent_to_review_and_answered_there(desk: TestClient) -> None:
    text = desk.get("/turn?session=S-6&turn=T-6").text
    form = dict(re.findall(r'name="(queue|session|turn)" value="([^"]+)"', text[text.index("/review/choose") :]))
    assert form["queue"] == "off_canon_names"
    table = desk.post("/review/choose", data=form)
    assert (table.status_code, table.url.path) == (200, "/review/names")
    assert "직접 고름" in table.text
    sent = numbers(desk)
    assert list(sent) == ["모래성", "바람골"]
    done = desk.post("/review/names", data={"sample": "1"} | {f"answer-{at}": "add" for at in sent.values()})
    assert done.url.path == "/review/sample"
    assert "이름</th>" in done.text
    assert "회차</th>" not in done.text
    cards = flattened(desk.get("/review/cards").text)
    assert all(name in cards for name in sent)


def test_hostile_names_are_text(tmp_path: Path) -> None:
    texts = [*MARKUP, *UNSEEN]
    turns = [off(number, f"{text} 왔어.", text, character_id=text) for number, text in enumerate(texts)]
    cards = [CARD | {"character_id": text} for text in texts]
    with page(tmp_path) as client:
        loaded(client, turns=("t.jsonl", lines(*turns)), cards=("c.jsonl", lines(*cards)), lexicon=FILES["lexicon"])
        text = draw(client, NAMES, size="200").text
        shown = re.findall(r'name="answer-(\d+)"', text)
        assert len(set(shown)) > len(MARKUP)
        client.post("/review/names", data={"sample": "1"} | {f"answer-{number}": "add" for number in shown})
        for path in ("/review/names?sample=1", "/review/cards", "/review/sample?sample=1"):
            text += client.get(path).text
        href = re.findall(r'href="(/review/cards/preview[^"]+)"', text)[0]
        text += client.get(href.replace("&amp;", "&")).text
    for hostile in MARKUP:
        assert hostile not in text or "<" not in hostile
    for hidden in UNSEEN:
        assert hidden not in re.sub(r'(value|href)="[^"]*"', "", text)


def decide(client: TestClient, number: int, chosen: str, *endings: tuple[str, str], sample: int = 1) -> Response:
    given = {"sample": str(sample), "number": str(number), "answer": chosen, "note": ""}
    for place, (form, level) in enumerate(endings, start=1):
        given |= {f"ending-{place}": form, f"level-{place}": level}
    return client.post("/review/decide", data=given)


def test_mixed_speech_is_heard_piece_by_piece_and_endings_become_a_profile_file(
    desk: TestClient, tmp_path: Path
) -> None:
    text = draw(desk, "mixed_speech").text
    assert "이 답장은 어떤 말투로 들리나요?" in text
    (item,) = [number for number in (1, 2) if "먹었네여" in desk.get(f"/review/item?sample=1&number={number}").text]
    heard = flattened(desk.get(f"/review/item?sample=1&number={item}").text.partition("말끝에서 들은 말투")[2])
    assert "먹었네여 반말" in heard
    assert "고마워요 존댓말" in heard
    for wrong in ("네여.", "ne yo", "여" * 17):
        refused = decide(desk, item, "polite", (wrong, "존댓말"))
        assert refused.status_code == 409
        assert "한글 열여섯 자까지" in refused.text
        assert f'value="{wrong}"' in refused.text
        assert 'value="polite" required autofocus checked' in re.sub(r" +", " ", refused.text)
    assert "아직 더할 어미가 없습니다" in desk.get("/review/endings").text
    assert desk.get("/review/endings/file").status_code == 404
    decide(desk, item, "polite", ("네여", "존댓말"), ("", "반말"))
    assert decide(desk, item, "polite", ("네여", "존댓말")).status_code == 200
    assert "네여 (존댓말)" in desk.get(f"/review/item?sample=1&number={item}").text
    text = desk.get("/review/endings?preview=1").text
    assert "네여 존댓말 local T-10" in flattened(text)
    assert "11회차 가운데 " in text
    answered = desk.get("/review/endings/file")
    file = tmp_path / "words.toml"
    file.write_bytes(answered.content)
    assert [(each.form, each.level) for each in read_words(file).endings.add] == [("네여", "존댓말")]
    assert answered.headers["content-disposition"] == 'attachment; filename="turnjudge-words.toml"'
    desk.post("/review/undo", data={"sample": "1", "number": str(item)})
    assert 'value="네여"' in desk.get(f"/review/item?sample=1&number={item}").text
    assert "아직 더할 어미가 없습니다" in desk.get("/review/endings").text


def test_the_file_that_is_given_stays_in_the_file_that_comes_out(tmp_path: Path) -> None:
    given = tmp_path / "given.toml"
    given.write_text('[endings]\nadd = [{ form = "삼", level = "반말" }]\n', encoding="utf-8")
    with page(tmp_path, JudgingSettings(profile="extended", profile_file=given)) as client:
        turns = lines(*TURNS, off(11, "오늘은 쉬겠사옵."))
        loaded(client, **FILES | {"turns": ("turns.jsonl", turns)})
        draw(client, "mixed_speech")
        decide(client, 1, "polite", ("네여", "존댓말"), ("사옵", "존댓말"))
        preview = client.get("/review/endings?preview=1").text
        assert "12회차 가운데 1회차가 뒤집힙니다" in preview
        assert "설정대로 말함에서 벗어남" in preview
        assert '<a class="id" href="/turn?session=S-11&amp;turn=T-11">T-11</a>' in preview
        file = tmp_path / "words.toml"
        file.write_bytes(client.get("/review/endings/file").content)
        assert "기본 프로필은" not in client.get("/review/endings").text
    assert [each.form for each in read_words(file).endings.add] == ["삼", "네여", "사옵"]


@pytest.fixture
def live(tmp_path: Path, kafka: KafkaBroker) -> Iterator[tuple[TestClient, World, KafkaSettings]]:
    """A page with brokers, whose topics hold the card."""
    with world(kafka.bootstrap) as one:
        one.create()
        settings = one.kafka
        with page(tmp_path, kafka=settings) as client:
            loaded(client, **FILES)
            yield client, one, settings


def canon(settings: KafkaSettings) -> list[str] | None:
    value = held(settings, settings.topics.character_cards).get("나무".encode())
    return None if value is None else json.loads(value)["canon_entities"]


def put(one: World, settings: KafkaSettings, **changes: Any) -> None:
    value = json.dumps(CARD | changes, ensure_ascii=False).encode()
    one.send(settings.topics.character_cards, value, "나무".encode())
    one.flush()


def publish(client: TestClient) -> Response:
    text = client.get("/review/cards/preview?character=나무").text
    found = re.search(r'name="expected" value="(\w+)"', text)
    assert found is not None
    return client.post("/review/cards/publish", data={"character": "나무", "expected": found[1]})


def take_back(client: TestClient, number: int) -> Response:
    return client.post("/review/cards/undo", data={"publication": str(number)})


@pytest.mark.needs("kafka")
def test_a_patch_is_published_and_taken_back(live: tuple[TestClient, World, KafkaSettings], tmp_path: Path) -> None:
    client, one, settings = live
    put(one, settings)
    decided(client)
    before = CARD["canon_entities"]
    assert "게시함" in publish(client).text
    assert canon(settings) == [*before, "모래성"]
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine, reading(engine) as connection:
        card = present_card(connection, "나무", Caps())
    assert card is not None
    assert card.canon_entities == (*before, "모래성")
    listed = flattened(client.get("/review/cards").text)
    assert re.search(r"나무 모래성 \d{4}-\d\d-\d\d \d\d:\d\d:\d\d local local 게시함", listed)
    assert client.get("/review/cards/preview?character=나무").status_code == 404
    assert "되돌림" in take_back(client, 1).text
    assert canon(settings) == before
    assert take_back(client, 1).status_code == 409
    assert take_back(client, 9).status_code == 404
    assert "게시함" in publish(client).text


@pytest.mark.needs("kafka")
def test_a_card_the_topic_did_not_hold_is_removed_again(live: tuple[TestClient, World, KafkaSettings]) -> None:
    client, _, settings = live
    decided(client)
    publish(client)
    assert canon(settings) == [*CARD["canon_entities"], "모래성"]
    take_back(client, 1)
    assert canon(settings) is None
    assert "뒤집힐 판정 미리 보기" in client.get("/review/cards").text


@pytest.mark.needs("kafka")
def test_a_card_that_changed_meanwhile_is_left_alone(live: tuple[TestClient, World, KafkaSettings]) -> None:
    client, one, settings = live
    decided(client)
    put(one, settings, canon_entities=["다른 이가 적음"])
    refused = publish(client)
    assert refused.status_code == 409
    assert "아무것도 보내지 않았습니다" in refused.text
    assert canon(settings) == ["다른 이가 적음"]
    put(one, settings)
    publish(client)
    put(one, settings, canon_entities=["다른 이가 적음"])
    assert take_back(client, 2).status_code == 409
    assert canon(settings) == ["다른 이가 적음"]
    assert "게시함" in client.get("/review/cards").text


@pytest.mark.needs("kafka")
@pytest.mark.parametrize("arrived", [False, True])
def test_a_publication_that_broke_off_is_seen_and_taken_back(
    live: tuple[TestClient, World, KafkaSettings], tmp_path: Path, arrived: bool
) -> None:
    client, one, settings = live
    after = CARD | {"canon_entities": ["모래성"]}
    put(one, settings)
    cards = (json.dumps(CARD), json.dumps(after))
    made_from = json.dumps({"names": ["모래성"], "samples": [1], "answered_by": ["여울"]})
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine, writing(engine) as connection:
        number = publications.begin(connection, "나무", cards, made_from, "여울", 1_000)
        if arrived:
            publications.note_held(connection, number, was_held=True)
    if arrived:
        put(one, settings, canon_entities=["모래성"])
    assert "중간에 끊김" in client.get("/review/cards").text
    assert "되돌림" in take_back(client, number).text
    assert canon(settings) == CARD["canon_entities"]


@pytest.mark.needs("kafka")
def test_what_was_previewed_is_what_is_published(live: tuple[TestClient, World, KafkaSettings]) -> None:
    client, one, settings = live
    put(one, settings)
    decided(client)
    text = client.get("/review/cards/preview?character=나무").text
    expected = re.findall(r'name="expected" value="(\w+)"', text)[0]
    client.post("/review/undo", data={"sample": "1", "number": numbers(client)["바람골"]})
    answer(client, 바람골="add")
    refused = client.post("/review/cards/publish", data={"character": "나무", "expected": expected})
    assert refused.status_code == 409
    assert "다시 미리 보고" in refused.text
    assert canon(settings) == CARD["canon_entities"]


def test_brokers_that_are_away_are_said(tmp_path: Path) -> None:
    with page(tmp_path, kafka=load_settings(KafkaSettings, brokers="127.0.0.1:1")) as client:
        loaded(client, **FILES)
        decided(client)
        refused = publish(client)
        assert refused.status_code == 502
        assert "게시했는지 알 수 없습니다" in refused.text
        assert "127.0.0.1:1" in refused.text
        assert "게시하지 못함" in refused.text
