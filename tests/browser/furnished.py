"""A page with something in every room: judged turns, samples with answers, exports, receipts, spikes, what is live."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import orjson

from browser.site import serving
from review.made import CARD, TERM, TURNS, lines
from review.pages.desk import settled
from review.pages.test_patches import TURNS as NAMES_AND_SPEECH
from review.pages.test_uploads import REPORT
from review.store.desk import spike
from service.review.store import publications
from service.review.store.batch import Batch
from service.review.store.opening import opened, writing
from service.review.store.publications import PublicationState
from service.review.store.writing import write
from service.settings import KafkaSettings, load_settings

AWAY: Final = load_settings(KafkaSettings, brokers="127.0.0.1:1")
FORBIDDEN, OFF_CANON, MIXED, CLOSED = 1, 2, 3, 4

# Every page that is asked for by GET, by its path among the places of the application, as people come to it.
PAGES: Final = {
    "/": ("/", "/?verdict=설정대로+말함", "/?search=없는낱말없는"),
    "/turn": tuple(f"/turn?session=S-1&turn=T-{number}" for number in range(2, 7)),
    "/why": ("/why?session=S-1&turn=T-3", "/why?session=S-1&turn=T-6"),
    "/checks": ("/checks?item=10",),
    "/review": ("/review",),
    "/review/sample": (f"/review/sample?sample={FORBIDDEN}&again=1", f"/review/sample?sample={CLOSED}"),
    "/review/item": (
        f"/review/item?sample={FORBIDDEN}&number=1",
        f"/review/item?sample={FORBIDDEN}&number=2",
        f"/review/item?sample={MIXED}&number=1",
        f"/review/item?sample={MIXED}&number=2",
    ),
    "/review/names": (f"/review/names?sample={OFF_CANON}",),
    "/review/cards": ("/review/cards",),
    "/review/cards/preview": ("/review/cards/preview?character=나무",),
    "/review/endings": ("/review/endings?preview=1",),
    "/uploads": ("/uploads",),
    "/uploads/job": ("{preview}", "{loaded}"),
    "/summary": ("/summary", "/summary?character=나무"),
    "/export": ("/export?session=S-1",),
    "/accesses": ("/accesses",),
    "/forget": ("/forget",),
}
# There only where tokens are asked for.
LOGIN: Final = "/login"
# What is asked for by GET and is no page to look at.
NO_PAGES: Final = ("/events", "/review/cards/file", "/review/endings/file", "/healthz", "/metrics")


class Furnished(NamedTuple):
    """Where the page is, and the paths of its pages, a kind of page each."""

    base: str
    pages: dict[str, list[str]]


@contextmanager
def furnished(folder: Path, texts: Sequence[str] = ()) -> Iterator[Furnished]:
    """Serve a page, live, and leave something in every room; `texts` stand wherever somebody may write."""
    # First without brokers, for what is forgotten while they are away is not forgotten here.
    with serving(folder) as base, _client(base) as client:
        _upload(client, [*_TURNS, *_hostile(texts)], [CARD, *(CARD | {"character_id": text} for text in texts)])
        _review(client, texts)
        client.post("/evaluation", files={"report": ("r.json", orjson.dumps(REPORT))})
        for form in ("csv", "jsonl"):
            client.post(
                "/export", data={"session": "S-1", "form": form, "reason": " ".join(texts)[:500] or "분기 보고"}
            )
        for text in texts:
            client.get("/", params={"search": text, "session": f"S{text}"})
        for session in ("S-90", *(f"F{text}" for text in texts)):
            client.post("/forget", data={"session": session, "sure": "1"})
        for text in texts:
            client.post("/forget", data={"character": f"잊힌 {text}", "sure": "1"})
    with serving(folder, AWAY) as base:
        with _client(base) as client:
            loaded = _upload(client, TURNS[:1], [CARD], _named(texts))
            preview = _preview(client, texts)
        _told(folder, texts)
        pages = {kind: [path.format(preview=preview, loaded=loaded) for path in paths] for kind, paths in PAGES.items()}
        for number, text in enumerate(texts):
            pages["/turn"].append(str(httpx.URL("/turn", params={"session": f"S{text}", "turn": f"T-{number}{text}"})))
            pages["/why"].append(str(httpx.URL("/why", params={"session": f"S{text}", "turn": f"T-{number}{text}"})))
            pages["/review/item"].append(f"/review/item?sample={FORBIDDEN}&number={number + 1}")
            pages["/review/cards/preview"].append(str(httpx.URL("/review/cards/preview", params={"character": text})))
            pages["/export"].append(str(httpx.URL("/export", params={"character": text, "search": text})))
            pages["/summary"].append(str(httpx.URL("/summary", params={"character": text})))
        yield Furnished(base, pages)


_TURNS: Final = [
    *TURNS,
    *(each | {"turn_id": f"N-{number}"} for number, each in enumerate(NAMES_AND_SPEECH)),
    *(TURNS[1] | {"turn_id": f"T-{number}", "session_id": f"S-{number}"} for number in (80, 81, 90)),
]


def _client(base: str) -> httpx.Client:
    return httpx.Client(base_url=base, headers={"Sec-Fetch-Site": "same-origin"}, follow_redirects=True, timeout=60)


def _hostile(texts: Sequence[str]) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(texts):
        of = {"session_id": f"S{text}", "character_id": text, "model_id": text, "user_message": text}
        of |= {"first_person": text, "prompt_id": text}
        yield of | {"turn_id": f"T-{number}{text}", "reply_text": f"{text} 소나기", "named_entities": []}
        yield of | {"turn_id": f"N-{number}{text}", "reply_text": text, "first_person": "나", "named_entities": [text]}
        mixed = f"{text}. 그렇구나. 알았어요."
        yield of | {"turn_id": f"M-{number}{text}", "reply_text": mixed, "first_person": "나", "named_entities": []}
        forgotten = of | {"session_id": f"F{text}", "turn_id": f"F-{number}{text}", "reply_text": text}
        yield forgotten
        yield forgotten | {"session_id": f"G{text}", "character_id": f"잊힌 {text}"}


def _files(turns: Sequence[Any], cards: Sequence[Any], name: str = "turns") -> dict[str, tuple[str, bytes]]:
    return {
        "turns": (f"{name}.jsonl", b"\n".join(orjson.dumps(each) for each in turns)),
        "cards": ("cards.jsonl", b"\n".join(orjson.dumps(each) for each in cards)),
        "lexicon": ("lexicon.jsonl", lines(TERM)),
    }


def _upload(client: httpx.Client, turns: Sequence[Any], cards: Sequence[Any], name: str = "turns") -> str:
    """Upload and load, and return the path of the upload."""
    where = str(client.post("/uploads", files=_files(turns, cards, name)).url)
    settled()
    client.post("/uploads/load", data={"upload": where.partition("=")[2]})
    settled()
    assert "모두 올렸습니다" in client.get(where).text
    return where.removeprefix(str(client.base_url).rstrip("/"))


def _named(texts: Sequence[str]) -> str:
    """Return a text that may be the name of a file: without a quotation mark or a slash in it."""
    return next((text for text in texts if not {'"', "/"} & {*text}), "turns")


def _preview(client: httpx.Client, texts: Sequence[str]) -> str:
    """Leave an upload at its preview, with rows that are refused, and return its path."""
    wrong = [{"turn_id": ""}, *({"turn_id": text, text: text, "session_id": text} for text in texts)]
    where = client.post("/uploads", files=_files([*TURNS, *wrong], [CARD], _named(texts))).url
    settled()
    return f"{where.path}?{where.query.decode()}"


def _review(client: httpx.Client, texts: Sequence[str]) -> None:
    """Draw a sample of every queue and answer a part of each."""
    for queue in ("forbidden_topics", "off_canon_names", "mixed_speech"):
        drawn = client.post("/review/draw", data={"queue": queue, "size": "200", "seed": "7", "reviewers": "1"})
        assert drawn.status_code == 200, drawn.text
    client.post("/review/draw", data={"queue": "forbidden_topics", "size": "3", "seed": "8", "reviewers": "2"})
    client.post("/review/close", data={"sample": str(CLOSED)})
    for number, text in enumerate(texts or ("이 캐릭터는 날씨를 말하면 안 됩니다.",), start=1):
        answered = {"sample": str(FORBIDDEN), "number": str(number), "answer": ("yes", "no", "unsure")[number % 3]}
        client.post("/review/decide", data=answered | {"note": text})
    for number in range(1, 60):
        data = {
            "sample": str(OFF_CANON),
            f"answer-{number}": "add",
            f"note-{number}": texts[0] if texts else "맞는 이름",
        }
        client.post("/review/names", data=data)
        if not texts and number == 2:
            break
    ending = {"ending-1": "네여", "level-1": "존댓말", "note": texts[0] if texts else "줄임 높임"}
    for number in range(1, 41 if texts else 2):
        data = {"sample": str(MIXED), "number": str(number), "answer": "polite"}
        client.post("/review/decide", data=data | ending)


def _told(folder: Path, texts: Sequence[str]) -> None:
    """Write down what comes from elsewhere: a card that was published, spikes."""
    card, name = orjson.dumps(CARD).decode(), texts[0] if texts else "모래성"
    made_from = orjson.dumps({"names": [name], "samples": [OFF_CANON], "answered_by": [name]}).decode()
    turns = [{"session_id": "S-1", "turn_id": "T-2"}]
    with opened(f"sqlite:///{folder / 'page.db'}") as engine, writing(engine) as connection:
        number = publications.begin(connection, texts[0] if texts else "나무", (card, card), made_from, "여울", 1_000)
        publications.end(connection, number, PublicationState.SENT, 2_000)
        risen = [spike(f"a{place}", topic=text, character_id=text) for place, text in enumerate(texts)]
        write(connection, Batch(spikes=risen or [spike(topic="날씨", character_id="나무", turns=turns)]))
