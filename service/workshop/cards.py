"""Lint character cards: what will be judged otherwise than the creator means (issue 5, item 3).

Codes: unreadable, shape, duplicate_card, reserved_id, unknown_profile, no_canon, canon_twice, canon_padded,
canon_common, canon_nested, role_nested, role_twice, role_not_canon, first_person_josa, first_person_odd,
forbidden_without_rows.
"""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Final, NamedTuple

from rules.profile import PROFILE_NAMES
from rules.wording import quote, with_josa
from schemas.canary import CANARY_CHARACTER
from schemas.card import Card
from schemas.nfc import nfc
from schemas.validate import CHARACTER_CARD, TOPIC_LEXICON
from schemas.verdict import Level
from service.decode import card_of, fits_64_bits
from service.files.sheets import CARD_COLUMNS, LEXICON_COLUMNS
from service.profiles.tables import shipped
from service.workshop.finding import Finding, Linted, Weight
from service.workshop.rows import GivenFile, GivenRow, numbered, read_given
from service.workshop.same import hidden_in, plain_form, unspaced
from service.workshop.shape import shape_problems
from service.workshop.words import common_words

# First persons that belong to the other level (Korean usage: 저 and 제 lower the speaker, 나 and 내 do not).
_LOW: Final = frozenset(("저", "제", "저희", "소인", "소녀", "소생", "소자", "쇤네", "신"))
_NOT_LOW: Final = frozenset(("나", "내", "우리", "이 몸", "이몸", "본좌", "짐", "과인"))
_WITH_JOSA: Final = {
    "나는": "나", "난": "나", "내가": "나", "나도": "나", "나를": "나", "날": "나",
    "저는": "저", "전": "저", "제가": "저", "저도": "저", "저를": "저", "절": "저",
}  # fmt: skip
_SHOWN: Final = 3


class _Read(NamedTuple):
    line: int
    card: Card
    topics: dict[str, str] | None


Lint = Callable[[_Read], Iterator[Finding]]


def lint_cards(path: str, lexicon: str | None = None) -> Linted:
    """Read and lint cards.

    With a lexicon it is also asked whether every forbidden topic has rows there.

    Raises:
        OperatorError: a file is missing, cannot be read, or is CSV without the columns it must have.
    """
    file = read_given(path, CARD_COLUMNS)
    topics = None if lexicon is None else _topics(read_given(lexicon, LEXICON_COLUMNS))
    return Linted(file.name, len(file.rows), lint_rows(file, topics))


def lint_rows(file: GivenFile, topics: dict[str, str] | None) -> list[Finding]:
    """Return the findings of every row; `topics` are the lexicon's, by the NFC that judging compares."""
    findings: list[Finding] = []
    first: dict[str, int] = {}
    for given in file.rows:
        card = _card(given)
        if not isinstance(card, Card):
            findings += card
            continue
        before = first.setdefault(card.character_id, given.line)
        if before != given.line:
            message = f"character_id가 같은 카드가 {before}행에 이미 있어 이 줄은 읽히지 않습니다. 한 줄만 남기세요."
            findings.append(Finding(given.line, "duplicate_card", Weight.FIX, message))
        for lint in LINTS:
            findings += lint(_Read(given.line, card, topics))
    return findings


def _topics(lexicon: GivenFile) -> dict[str, str]:
    """Return the topics of the rows that judging takes."""
    rows = (given.row for given in numbered(lexicon) if given.row is not None)
    return {
        nfc(row["topic"]): row["topic"]
        for row in rows
        if TOPIC_LEXICON.is_valid(row) and fits_64_bits(int(row["position"]))
    }


def _card(given: GivenRow) -> Card | list[Finding]:
    if given.row is None:
        return [Finding(given.line, "unreadable", Weight.FIX, f"{given.trouble}. 이 카드는 쓰이지 않습니다.")]
    problems = shape_problems(given.row, CHARACTER_CARD)
    if problems:
        return [Finding(given.line, "shape", Weight.FIX, text) for text in problems.values()]
    return card_of(given.row)


def _reserved(read: _Read) -> Iterator[Finding]:
    if read.card.character_id == CANARY_CHARACTER:
        message = (
            f"character_id {CANARY_CHARACTER}는 점검용으로 남겨 둔 이름이라 카드가 쓰이지 않습니다. 이름을 바꾸세요."
        )
        yield Finding(read.line, "reserved_id", Weight.FIX, message)


def _profile(read: _Read) -> Iterator[Finding]:
    if read.card.profile is not None and read.card.profile not in PROFILE_NAMES:
        known = ", ".join(PROFILE_NAMES)
        named = with_josa(quote(read.card.profile), "은")
        message = f"profile {named} 없는 이름이라 카드가 쓰이지 않습니다. 쓸 수 있는 이름: {known}"
        yield Finding(read.line, "unknown_profile", Weight.FIX, message)


def _canon(read: _Read) -> Iterator[Finding]:
    names = read.card.canon_entities
    if not names:
        message = "canon_entities가 비어 있어 이름이 하나라도 나오면 모두 세계관 밖이 됩니다. 아는 이름을 적으세요."
        yield Finding(read.line, "no_canon", Weight.LOOK, message)
    seen: dict[str, str] = {}
    for name in names:
        if name != name.strip() or hidden_in(name):
            message = f"이름 {quote(name)}에 앞뒤 빈칸이나 보이지 않는 글자가 있어 다른 이름이 됩니다. 지우세요."
            yield Finding(read.line, "canon_padded", Weight.FIX, message)
        if seen.setdefault(plain_form(name), name) is not name:
            message = f"이름 {with_josa(quote(name), '이')} 두 번 적혀 있습니다. 하나만 남기세요."
            yield Finding(read.line, "canon_twice", Weight.LOOK, message)
    for plain, name in seen.items():
        if len(plain) == 1 or plain in common_words() or plain in shipped().nouns.common:
            yield Finding(read.line, "canon_common", Weight.LOOK, _common(name.strip()))


def _common(name: str) -> str:
    if len(plain_form(name)) == 1:
        return (
            f"한 글자 이름 {with_josa(quote(name), '은')} 다른 낱말 속에서도 나타나 기억 대조가 헛짚기 쉽습니다. "
            "성이나 별명을 붙인 이름을 함께 쓸 수 있는지 보세요."
        )
    return (
        f"이름 {with_josa(quote(name), '은')} 흔한 낱말이기도 해서, 답장에 그 낱말만 나와도 "
        "이름을 말한 것으로 셀 수 있습니다. "
        "성을 붙이거나 덜 흔한 이름을 쓸 수 있는지 보세요."
    )


def _canon_nested(read: _Read) -> Iterator[Finding]:
    names = {plain_form(name): name.strip() for name in reversed(read.card.canon_entities)}
    for plain, name in reversed(names.items()):
        longer = [names[other] for other in reversed(names) if plain in other and plain != other]
        if longer:
            more = f" 밖에 {len(longer) - _SHOWN}개" if len(longer) > _SHOWN else ""
            shown = ", ".join(map(quote, longer[:_SHOWN])) + more
            message = (
                f"이름 {with_josa(quote(name), '이')} {shown} 안에 들어 있습니다. "
                f"긴 이름만 나와도 {with_josa(quote(name), '을')} 말한 것으로 셀 수 있으니, "
                "서로 다른 대상이면 이름을 바꾸세요."
            )
            yield Finding(read.line, "canon_nested", Weight.LOOK, message)


def _roles(read: _Read) -> Iterator[Finding]:
    roles = read.card.entity_roles
    entities: dict[str, list[str]] = {}
    for role in roles:
        named = entities.setdefault(plain_form(role.role), [])
        if role.entity not in named:
            named.append(role.entity)
    for word, named in entities.items():
        if len(named) > 1:
            message = (
                f"관계어 {quote(word)}에 이름이 {len(named)}개({', '.join(named)}) 있습니다. "
                "유저가 물으면 적힌 순서대로 모두 물은 것으로 보니, 관계어를 나눌 수 있는지 보세요."
            )
            yield Finding(read.line, "role_twice", Weight.LOOK, message)
        for longer in entities:
            if word in longer and word != longer and entities[longer] != named:
                yield Finding(read.line, "role_nested", Weight.LOOK, _nesting(word, longer))


def _nesting(word: str, longer: str) -> str:
    return (
        f"관계어 {quote(longer)} 안에 {with_josa(quote(word), '이')} 들어 있습니다. seed 프로필은 유저가 "
        f"{with_josa(quote(longer), '을')} 물어도 {with_josa(quote(word), '을')} 함께 물은 것으로 셉니다. "
        "겹치지 않는 말로 바꾸거나 profile 칸에 extended를 적으세요."
    )


def _entities(read: _Read) -> Iterator[Finding]:
    canon = {nfc(name) for name in read.card.canon_entities}
    for entity in dict.fromkeys(role.entity for role in read.card.entity_roles if nfc(role.entity) not in canon):
        roles = ", ".join(quote(role.role) for role in read.card.entity_roles if role.entity == entity)
        near = _near(entity, read.card.canon_entities)
        advice = f" canon_entities의 {with_josa(quote(near), '과')} 같은 이름이면 똑같이 적으세요." if near else ""
        message = (
            f"관계어 {roles}의 이름 {with_josa(quote(entity), '이')} canon_entities에 없습니다. "
            f"이대로면 이 이름을 말한 답장이 세계관 밖이 되니 canon_entities에 더하세요.{advice}"
        )
        yield Finding(read.line, "role_not_canon", Weight.FIX, message)


def _near(word: str, known: tuple[str, ...]) -> str | None:
    folded = {unspaced(name): name for name in known}
    plain = unspaced(word)
    if plain in folded:
        return folded[plain]
    inside = [name for form, name in folded.items() if len(form) > 1 and (form in plain or plain in form)]
    close = get_close_matches(plain, folded, n=1)
    return inside[0] if inside else folded[close[0]] if close else None


def _first_person(read: _Read) -> Iterator[Finding]:
    said, rule = plain_form(read.card.first_person or ""), read.card.honorific_rule
    if not said:
        return
    if said in _WITH_JOSA:
        message = (
            f"first_person {with_josa(quote(said), '은')} 조사가 붙은 꼴입니다. 로그의 1인칭과 글자대로 견주니 "
            f"{with_josa(quote(_WITH_JOSA[said]), '으로')} 적으세요."
        )
        yield Finding(read.line, "first_person_josa", Weight.FIX, message)
    bare = _WITH_JOSA.get(said, said)
    if (rule == Level.POLITE and bare in _NOT_LOW) or (rule == Level.PLAIN and bare in _LOW):
        message = (
            f"honorific_rule은 {rule}인데 first_person은 {quote(said)}입니다. "
            "둘이 함께 쓰이는 말투가 맞는지, 한쪽을 잘못 적은 것은 아닌지 보세요."
        )
        yield Finding(read.line, "first_person_odd", Weight.LOOK, message)


def _forbidden(read: _Read) -> Iterator[Finding]:
    if read.topics is None:
        return
    for topic in dict.fromkeys(read.card.forbidden_topics):
        if nfc(topic) in read.topics:
            continue
        near = _near(topic, tuple(read.topics.values()))
        advice = f" 사전의 {with_josa(quote(near), '과')} 같은 소재면 똑같이 적으세요." if near else ""
        message = f"금지 소재 {quote(topic)}에 드는 낱말이 사전에 없어 걸리는 일이 없습니다. 낱말을 더하세요.{advice}"
        yield Finding(read.line, "forbidden_without_rows", Weight.FIX, message)


LINTS: Final[tuple[Lint, ...]] = (
    _reserved, _profile, _canon, _canon_nested, _roles, _entities, _first_person, _forbidden,
)  # fmt: skip
