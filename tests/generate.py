"""Make cards, lexicons and turns of our own invention, for tests and benchmarks.

Everything hangs on the `random.Random` that is handed in: one seed, one output. `make_turns` reaches for every branch
of the judge; `make_bench_turns` writes the plain traffic that speed is measured on.
`python tests/generate.py --seed 1 --turns 200000 --terms 1000 --out DIR` writes the three files.
"""

import argparse
import json
import random
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def cut(text: str) -> tuple[str, ...]:
    """Cut a list written in one string."""
    return tuple(text.split("|"))


MODELS = ("model-a", "model-b", "model-c-tuned")
BLANKS = ("", " ", "\t", "\u3000", " \n ")
NAMES = cut("하람|하람이네|별하|가온|윤슬|보리|Mira|mira|달빛서점|서리숲|푸른탑|은하 마을")
OUTSIDERS = cut("도담|Orion|바람골|늘봄시|모래성")
ROLES = cut("동생|여동생|막내 여동생|동생 친구|큰형|형|스승|스승님|짝꿍|짝짝")
TOPICS = cut("현실 정치|내기|음주|광고|결말 누설|외부 만남")
TERMS = cut(
    "선거:현실 정치|선거판:현실 정치|거판:내기|판돈:내기|판돈:광고|돈:내기|술:음주|술잔:음주"
    "|술잔치:음주|잔치:외부 만남|예술:광고|할인:광고|할인:내기|할인권:광고|결말:결말 누설"
    "|말미:결말 누설|결말미:외부 만남|VIP:광고|번호 알려:외부 만남|\u6a02:음주|ㅋㅋ:광고|ㅋㅋㅋ:내기|?!:광고"
)
SYLLABLES = "가나다라마바사아자차카타하고노도로모보소오조초토포호구누두루무부수우주추강산물빛별달"
CHAINS = cut("술잔치|선거판돈|결말미|할인권|예술잔|\uf914|ㅋㅋㅋㅋ|예술\u200b잔치")

POLITE = cut(
    "오늘은 여기서 쉬어요|먼저 가 있을게요|그 길은 제가 압니다|차나 한잔하죠|어서 들어오십시오"
    "|그건 내 몫이 아니다|하나 더 필요|그래요(천천히 와도 돼요)|요"
)
PLAIN = cut(
    "오늘은 여기서 쉬자|먼저 가 있을게|그 길은 내가 알아|차나 한잔해|비가 오니까|참 높으시다"
    "|네 알겠어요\n나 먼저 갈게|그럼 그렇지|니까|값이 없니까|그래요(천천히 와)"
)
FORMS = cut("어디로 가십니까|이제 그만 걸읍시다|조심히 가십쇼|벌써 다 왔네여|같이 합시다")
SILENT = cut("OK, see you!|ㅋㅋㅋ|…😊|ㅇㅇ. ㄱㄱ?|...|\u1112\u1112|?!")
TAILS = cut('|||~|~^^|ㅋㅋ| ㅎㅎ|😊|❤\ufe0f|…|*|\u200b|\u3000| :D|"')
STOPS = cut(".|.|?|!|．|？|！|。|\n| |?!|...|")
LEVELS = cut("반말|존댓말|반말|존댓말|반존대|해요체|| ")
ASKS = cut("우리 {0} 이름 기억나?|아까 말한 {0}, 누구였지|{0}하고 {1} 중에 누가 먼저 왔지?")
OVERLAPS = cut("여동생 친구는 누구였지?|짝짝짝꿍 이름 기억해?|막내 여동생 말이야|큰형 스승님 성함은?")
CHAT = cut("오늘 날씨 어때?|지금 뭐 해?|대형 인형 좋아해?|배고프다|ok?|같이 산책할래?")

STARTS = cut("바람이 차니까|비가 그치면|해가 지기 전에|길이 미끄러우니|손님이 다 가면|불이 꺼졌으니|눈이 쌓여서")
MIDDLES = cut(
    "목도리를 꼭 챙겨서|창가 자리에 앉아서|화분을 안으로 옮기고|두 번째 서랍을 열고|빵을 조금 나눠 들고"
    "|오래된 지도를 펴고|다리를 천천히 건너서|뒤뜰 문을 잠그고"
)
ENDS = {
    "존댓말": cut("기다릴게요.|나오세요.|쉬면 됩니다.|같이 갈까요?|돌아오죠!|조용히 웃었어요."),
    "반말": cut("기다릴게.|나와.|쉬면 된다.|같이 갈까?|돌아오자!|조용히 웃었어."),
}


def nfc(text: str) -> str:
    """Compose a text."""
    return unicodedata.normalize("NFC", text)


def nfd(text: str) -> str:
    """Decompose a text."""
    return unicodedata.normalize("NFD", text)


def spelled(rng: random.Random, text: str) -> str:
    """Spell a text composed, decomposed, or half and half."""
    middle = rng.choice((0, 0, 0, 0, 0, len(text), len(text) // 2))
    return nfd(text[:middle]) + text[middle:]


def make_cards(rng: random.Random, n: int, *, plain: bool = False) -> list[Row]:
    """Make n cards, CHR-0001 onwards; plain ones are whole and composed, as traffic has them."""
    make = plain_card if plain else odd_card
    return [make(rng, f"CHR-{number:04d}") for number in range(1, n + 1)]


def plain_card(rng: random.Random, character_id: str) -> Row:
    """Make a card with everything on it."""
    canon = rng.sample(NAMES, 6)
    rule, person = rng.choice((("반말", "나"), ("존댓말", "저")))
    return {
        "character_id": character_id,
        "honorific_rule": rule,
        "first_person": person,
        "canon_entities": canon,
        "forbidden_topics": rng.sample(TOPICS, 2),
        "entity_roles": [{"role": r, "entity": e} for r, e in zip(rng.sample(ROLES, 3), canon[:3], strict=True)],
    }


def odd_card(rng: random.Random, character_id: str) -> Row:
    """Make a card with nulls, blanks, empty lists, overlapping roles and names in either spelling."""
    canon = [] if rng.random() < 0.1 else rng.choices(NAMES, k=rng.randint(2, 8))
    roles = rng.choices(ROLES, k=rng.choice((0, 2, 3, 5, 8)))
    pool = canon + canon + [rng.choice(OUTSIDERS)]
    card: Row = {
        "character_id": character_id,
        "honorific_rule": rng.choice(("반말", "존댓말")),
        "first_person": rng.choice(("나", "저", "나", "저", nfd("나"), "내가", None, *BLANKS[:3])),
        "canon_entities": [spelled(rng, name) for name in canon],
        "forbidden_topics": [spelled(rng, topic) for topic in rng.sample(TOPICS, rng.randrange(4))],
        "entity_roles": [{"role": spelled(rng, role), "entity": spelled(rng, rng.choice(pool))} for role in roles],
    }
    return without_nulls(rng, card)


def without_nulls(rng: random.Random, row: Row) -> Row:
    """Leave out some of the fields that are null: a missing optional field is null too."""
    return {key: value for key, value in row.items() if value is not None or rng.random() < 0.7}


def make_lexicon(rng: random.Random, n_terms: int) -> list[Row]:
    """Make n rows, TERMS first: nested terms, terms of several topics, shared positions; no pair twice."""
    written = [tuple(row.split(":")) for row in TERMS]
    pairs = dict.fromkeys((a, b) for a, b in rng.sample(written, min(n_terms, len(written))))
    while len(pairs) < n_terms:
        term = "".join(rng.choices(SYLLABLES, k=rng.randint(4, 7)))
        for topic in rng.sample(TOPICS, 2 if rng.random() < 0.1 else 1):
            if len(pairs) < n_terms:
                pairs[term, topic] = None
    spelt = [(spelled(rng, term), spelled(rng, topic)) for term, topic in pairs]
    return [{"term": a, "topic": b, "position": rng.randint(-2, n_terms)} for a, b in spelt]


def make_turns(
    rng: random.Random, n: int, cards: Sequence[Row], lexicon: Sequence[Row], sessions: int
) -> Iterator[Row]:
    """Yield n turns of so many sessions, in no order, that reach every branch of the judge."""
    counts = [0] * sessions
    for _ in range(n):
        session = rng.randrange(sessions)
        counts[session] += rng.random() > 0.05
        card = cards[session % len(cards)] if rng.random() > 0.03 else rng.choice(cards)
        names = odd_names(rng, card)
        turn: Row = {
            "turn_id": odd_turn_id(rng, session, counts[session]),
            "session_id": f"S-{session:05d}",
            "character_id": "CHR-none" if rng.random() < 0.03 else card["character_id"],
            "model_id": rng.choice(MODELS),
            "user_message": odd_message(rng, card),
            "reply_text": odd_reply(rng, card, lexicon, names or []),
            "first_person": odd_first_person(rng, card),
            "honorific_level": rng.choice((None, None, *map(nfd, LEVELS[:2]), *LEVELS)),
            "named_entities": names,
            "user_asked_recall": rng.choice((True, True, True, False, False, None)),
            "prompt_id": rng.choice((None, "prompt-1")),
        }
        if rng.random() < 0.05:
            turn["client"] = {"build": rng.randrange(9)}
        yield without_nulls(rng, turn)


def odd_turn_id(rng: random.Random, session: int, count: int) -> str:
    """Make a turn_id: long digit runs, leading zeros, ids that come late or come twice."""
    number = count if rng.random() < 0.8 else rng.randint(0, count + 4)
    if rng.random() < 0.001:
        return "T-" + rng.choice("78") * 4400 + str(number)
    zeros = "0" * rng.choice((0, 0, 0, 0, 1, 3))
    ids = (
        f"T-{number:06d}",
        f"T-{zeros}{number}",
        f"{zeros}{number}회차{rng.choice(('', '', 'b', nfd('나')))}",
        f"T{10**40 + number}-{rng.randrange(3)}",
        f"t{number // 10}-{number % 10}{rng.choice(('', '', 'a', '가', '１', ' 01'))}",
    )
    return ids[session % len(ids)]


def odd_names(rng: random.Random, card: Row) -> list[str] | None:
    """Make the names of a turn: mostly canon, some not, some blank, some twice, or null."""
    if rng.random() < 0.08:
        return None
    pool = [*card["canon_entities"], *(row["entity"] for row in card["entity_roles"])]
    names = [spelled(rng, nfc(name)) for name in rng.choices(pool or NAMES, k=rng.randrange(4))]
    for chance, extra in ((0.12, OUTSIDERS), (0.05, NAMES), (0.1, BLANKS), (0.2, names)):
        if extra and rng.random() < chance:
            names.insert(rng.randint(0, len(names)), spelled(rng, rng.choice(extra)))
    return names


def odd_message(rng: random.Random, card: Row) -> str | None:
    """Make a user's message: questions about roles, overlapping roles, chat, blank, or null."""
    roles = [row["role"] for row in card["entity_roles"]]
    kind = rng.random()
    if kind < 0.1:
        return rng.choice((None, *BLANKS))
    if kind < 0.75 and roles:
        return spelled(rng, nfc(rng.choice(ASKS).format(rng.choice(roles), rng.choice(roles))))
    return spelled(rng, rng.choice(OVERLAPS if kind < 0.85 else CHAT))


def odd_first_person(rng: random.Random, card: Row) -> str | None:
    """Make a turn's first person: mostly the card's, else another, a blank or null."""
    own = card.get("first_person")
    if own is not None and rng.random() < 0.65:
        return spelled(rng, nfc(own))
    return rng.choice(("나", "저", "본인", None, *BLANKS[1:]))


def odd_reply(rng: random.Random, card: Row, lexicon: Sequence[Row], names: Sequence[str]) -> str | None:
    """Make a reply: levels kept, broken or mixed, glued tails, terms, names, blank, or null."""
    kind = rng.random()
    if kind < 0.11:
        return rng.choice((None, None, *BLANKS, *SILENT))
    own, other = (POLITE, PLAIN) if card["honorific_rule"] == "존댓말" else (PLAIN, POLITE)
    reply = ""
    for _ in range(rng.randint(1, 3)):
        table = own if kind < 0.7 else rng.choice((own, other, FORMS, SILENT))
        if rng.random() < 0.12 and lexicon:
            term = nfc(rng.choice(lexicon)["term"])
            reply += rng.choice(("{} 얘기인데 ", "첫{}날에 ")).format(rng.choice((term, *CHAINS)))
        if rng.random() < 0.3:
            reply += f"{nfc(rng.choice(names or NAMES))}{rng.choice(('', '이는', ','))} "
        reply += rng.choice(table) + rng.choice(TAILS) + rng.choice(STOPS) + rng.choice(("", " "))
    return spelled(rng, reply)


def make_bench_turns(rng: random.Random, n: int, cards: Sequence[Row], lexicon: Sequence[Row]) -> Iterator[Row]:
    """Yield n plain turns of some 470 bytes with replies of about 100 code points.

    Sessions run side by side, some ten turns each; turn_ids rise from line to line, so that both orders agree.
    Two names in a third of the turns, a recall in one of twenty.
    """
    opened = 64
    active = list(range(1, opened + 1))
    for number in range(1, n + 1):
        place = rng.randrange(len(active))
        if rng.random() < 0.1:
            opened += 1
            active[place] = opened
        card = cards[active[place] % len(cards)]
        level = card["honorific_rule"] if rng.random() < 0.95 else rng.choice(("반말", "존댓말"))
        pool = card["canon_entities"] if rng.random() < 0.95 else OUTSIDERS
        named = rng.random() < 0.34
        names = [nfc(name) for name in rng.choices(pool or NAMES, k=2)] if named else []
        asked = rng.choice(card["entity_roles"] or [None]) if rng.random() < 0.05 else None
        message = rng.choice(CHAT) if asked is None else ASKS[0].format(nfc(asked["role"]))
        said = [*names, nfc(asked["entity"])] if asked and rng.random() < 0.5 else names
        yield {
            "turn_id": f"T-{number:08d}",
            "session_id": f"S-{active[place]:07d}",
            "character_id": card["character_id"],
            "model_id": rng.choice(MODELS),
            "user_message": message,
            "reply_text": bench_reply(rng, level, said, lexicon),
            "first_person": card.get("first_person"),
            "honorific_level": level,
            "named_entities": names,
            "user_asked_recall": asked is not None,
        }


def bench_reply(rng: random.Random, level: str, said: Sequence[str], lexicon: Sequence[Row]) -> str:
    """Write a reply of about 100 code points in one level, with the names that are said."""
    start = f"{', '.join(said)}, " if said else ""
    if lexicon and rng.random() < 0.02:
        start += f"{nfc(rng.choice(lexicon)['term'])} 이야기지만 "
    tables = (STARTS, MIDDLES, ENDS[level])
    sentences = [" ".join(map(rng.choice, tables)) for _ in range(3 if said else 4)]
    return start + " ".join(sentences)


def main() -> None:
    """Write turns.jsonl, cards.jsonl and lexicon.jsonl."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    for name, default in (("--seed", 1), ("--turns", 10_000), ("--terms", 1_000), ("--cards", 50)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--style", choices=("bench", "hard"), default="bench")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    hard = options.style == "hard"
    cards = make_cards(rng, options.cards, plain=not hard)
    lexicon = make_lexicon(rng, options.terms)
    turns = make_bench_turns(rng, options.turns, cards, lexicon)
    if hard:
        turns = make_turns(rng, options.turns, cards, lexicon, max(1, options.turns // 25))
    options.out.mkdir(parents=True, exist_ok=True)
    for name, rows in (("cards", cards), ("lexicon", lexicon), ("turns", turns)):
        with (options.out / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
