"""A full second reading of the profile's kernel, with other code: the reference beside the clone."""

import importlib.util
import random
from types import ModuleType

import pytest

from extended.reading import PROFILE, card, entries, held, read, roles, turn
from generate import cut
from rules.extended.fold import Folding
from rules.extended.speech import Hearing
from schemas.lexicon import Entry
from services import SHARED

REFERENCE = SHARED / "notes" / "extended_reference.py"
FOLDING, HEARING = Folding(PROFILE.fold), Hearing(PROFILE.speech)
pytestmark = pytest.mark.needs("shared")

WORDS = cut(
    "나는|저도|오늘|그대|과인은|자네|네|정말|혹시|친구가|담요|바다|엄마|가요|갔어요|할게요|합니다|아니다|갑시다"
    "|합니까|가십시오|오십쇼|통촉하소서|하죠|가쥬|왔어여|했슴다|입미다|좋네욤|합니당|했어|한다|가자|할까|하냐|좋아"
    "|먹음|없음|했지|구나|하렴|가오|살았소|맞구려|거요|이요|왕이요|어여쁘다|세요옹|다녀왔습니다아아|알겠어욬|뭐더라"
    "|간대"
)
ENDS = (".", "?", "!", "\n", "~", "ㅋㅋ", "^^", "😊", "…", " ", " ", ", ")
NAMES = ("하늘", "별하", "예은", "영은", "마리", "김민지", "민지", "시원", "Mira")
TAILS = ("", "이", "가", "이는", "은", "님", "씨가", "아", "야", "이라고", "한테", "아저씨", "만큼은", "리아")
FRONTS = ("", "최", "우리", "박", "푸른", "이")
TERMS = ("술", "노름", "판돈", "노름판", "깍두기", "BTC", "정치", "살인")
GLUE = ("", "을", "이", "은", "까지", "하는", "들", "인들은", "탄", "예", "마", "깨", "몇", " ", " ")


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("extended_reference", REFERENCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_speech_is_heard_alike(reference: ModuleType) -> None:
    """What is said to oneself, left hanging or cited behind its mark is heard by us alone, and not made here."""
    rng = random.Random(5)
    for _ in range(12_000):
        text = "".join(rng.choice(WORDS) + rng.choice((" ", " ", *ENDS)) for _ in range(rng.randint(1, 7)))
        speech = HEARING.hear(FOLDING.fold(text)).speech
        assert ("불명" if speech.unclear else speech.level) == reference.speech(text)[0], text


def test_names_are_known_alike(reference: ModuleType) -> None:
    rng = random.Random(6)
    for _ in range(6_000):
        canon = rng.sample(NAMES, 3)
        names = [rng.choice(FRONTS) + rng.choice(NAMES) + rng.choice(TAILS) for _ in range(3)]
        reading = read(held(card(canon_entities=tuple(canon))), turn(named_entities=names))
        ours = [name for key, name in (reading.names or {}).items() if key not in reading.known]
        assert ours == reference.off_canon(names, canon), (names, canon)


def test_roles_are_asked_alike(reference: ModuleType) -> None:
    rng = random.Random(7)
    words = cut("동생|여동생|형|누님|누나|엄마|어머니|친구|여자친구|외할머니|할머니|역장|딸")
    for _ in range(4_000):
        on_card = rng.sample(("동생", "여동생", "누나", "형", "엄마", "친구", "외할머니", "역장", "딸"), 3)
        message = " ".join(
            rng.choice(("", "내", "우리", "대", "인"))
            + rng.choice(words)
            + rng.choice(("", "은", "이름", "님은", "기", "분"))
            for _ in range(3)
        )
        against = held(card(entity_roles=roles(**dict.fromkeys(on_card, "별하"))))
        reading = read(against, turn(reply_text="글쎄.", user_message=message, user_asked_recall=True))
        ours = {each.role.role for each in reading.asked or ()}
        assert ours == reference.roles_asked(message, on_card), (message, on_card)


def test_terms_are_met_alike(reference: ModuleType) -> None:
    rng = random.Random(8)
    for _ in range(150):
        rows = [Entry(term, "소재", place, rng.choice((None, "word", "any"))) for place, term in enumerate(TERMS)]
        theirs = reference.Lexicon(
            [{"term": row.term, "topic": row.topic, "mode": row.mode} for row in rows], frozenset(PROFILE.nouns.common)
        )
        against = held(card(), entries(*rows))
        for _ in range(40):
            text = "".join(rng.choice(GLUE) + rng.choice(TERMS) + rng.choice(GLUE) for _ in range(3))
            witnesses = read(against, turn(reply_text=text)).witnesses
            assert witnesses is not None
            best: dict[str, str] = {}
            for hit in theirs.find(text):
                best[hit.term] = "hit" if "hit" in (best.get(hit.term), hit.tier) else hit.tier
            ours = {rows[each.rank].term: each.tier.value for each in witnesses.terms}
            assert ours == best, text
