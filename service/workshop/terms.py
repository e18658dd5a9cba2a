"""Lint a topic lexicon: terms that cannot work as written, and terms that deserve a look (issue 5, item 3).

Codes: unreadable, shape, blank, duplicate, nfd, padded, glued, nested, one_syllable, homograph, idle_except,
mode_differs.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from ahocorasick_rs import AhoCorasick

from rules.wording import quote, with_josa
from schemas.nfc import nfc
from schemas.validate import TOPIC_LEXICON
from service.decode import fits_64_bits
from service.files.sheets import LEXICON_COLUMNS
from service.workshop.finding import Finding, Linted, Weight
from service.workshop.rows import GivenFile, GivenRow, numbered, read_given
from service.workshop.same import hidden_in, is_syllables, plain_form, unspaced
from service.workshop.shape import shape_problems
from service.workshop.words import homographs

_SEPARATORS: Final = re.compile(r"[,/|;、，·\t\n\r]")
# A jamo or syllable before two digits: what two strings look like when the comma between them is lost (ㅈㅗ118).
_SCRIPTS: Final = re.compile(r"[ㄱ-ㅣ가-힣][0-9]{2,}|[0-9]{2,}[ㄱ-ㅣ가-힣]")
_SHOWN: Final = 3


class Term(NamedTuple):
    """A row that has the shape of a lexicon row, with its line, its term in plain form and its contexts."""

    line: int
    term: str
    topic: str
    plain: str
    mode: str | None
    except_: tuple[str, ...]


class _Lexicon(NamedTuple):
    terms: tuple[Term, ...]
    by_plain: dict[str, Term]


Lint = Callable[[Term, _Lexicon], Iterator[Finding]]


def lint_lexicon(path: str) -> Linted:
    """Read and lint a lexicon.

    Raises:
        OperatorError: the file is missing, cannot be read, or is CSV without the columns of a lexicon.
    """
    file = read_given(path, LEXICON_COLUMNS)
    return Linted(file.name, len(file.rows), lint_terms(file))


def lint_terms(file: GivenFile) -> list[Finding]:
    """Return the findings of every row, by line; `LINTS` in turn for those that can be read."""
    findings: list[Finding] = []
    terms = []
    for row in numbered(file):
        term = _term(row)
        if isinstance(term, Term):
            terms.append(term)
        else:
            findings += term
    by_plain: dict[str, Term] = {}
    for term in terms:
        by_plain.setdefault(term.plain, term)
    lexicon = _Lexicon(tuple(terms), by_plain)
    for term in terms:
        for lint in LINTS:
            findings += lint(term, lexicon)
    findings += _nested(lexicon)
    findings += _duplicates(lexicon)
    findings += _modes(lexicon)
    return sorted(findings, key=lambda finding: finding.line)


def _term(given: GivenRow) -> Term | list[Finding]:
    row = given.row
    if row is None:
        return [Finding(given.line, "unreadable", Weight.FIX, f"{given.trouble}. 이 줄은 판정에 쓰이지 않습니다.")]
    problems = shape_problems(row, TOPIC_LEXICON)
    if not problems and not fits_64_bits(int(row["position"])):
        problems = {"position": "position 칸: 64비트 정수여야 합니다."}
    if problems:
        return [Finding(given.line, _shape_code(column, row), Weight.FIX, text) for column, text in problems.items()]
    contexts = tuple(row.get("except") or ())
    term = row["term"]
    if not plain_form(term):
        return [Finding(given.line, "blank", Weight.FIX, "낱말이 보이지 않는 글자로만 되어 있습니다. 줄을 지우세요.")]
    return Term(given.line, term, row["topic"], plain_form(term), row.get("mode"), contexts)


def _shape_code(column: str, row: dict[str, Any]) -> str:
    value = row.get(column)
    is_blank = value is None or (isinstance(value, str) and not value.strip())
    return "blank" if is_blank and column in ("term", "topic") else "shape"


def _nfd(term: Term, lexicon: _Lexicon) -> Iterator[Finding]:
    if term.term != nfc(term.term):
        yield Finding(
            term.line,
            "nfd",
            Weight.LOOK,
            f"낱말이 자모를 따로 적은 꼴(NFD)입니다. 판정은 되지만 찾기나 정렬에서 어긋나니 "
            f"{with_josa(quote(nfc(term.term)), '으로')} 다시 적으세요.",
        )


def _padded(term: Term, lexicon: _Lexicon) -> Iterator[Finding]:
    for column, value in (("낱말", term.term), ("소재", term.topic)):
        if value != value.strip():
            message = f"{column} 앞뒤에 빈칸이 있어 빈칸까지 똑같아야 걸립니다. 빈칸을 지우세요."
            yield Finding(term.line, "padded", Weight.FIX, message)
        hidden = hidden_in(value)
        if hidden:
            message = f"{column}에 보이지 않는 글자(U+{ord(hidden):04X})가 섞여 있습니다. {column} 칸을 새로 적으세요."
            yield Finding(term.line, "padded", Weight.FIX, message)


def _glued(term: Term, lexicon: _Lexicon) -> Iterator[Finding]:
    text = term.plain
    separator = _SEPARATORS.search(term.term.strip())
    if separator and len(text) > 1:
        message = f"낱말 칸에 {_named(separator[0])} 있습니다. 낱말이 여럿이면 한 줄에 하나씩 나누어 적으세요."
        yield Finding(term.line, "glued", Weight.FIX, message)
        return
    for cut in range(1, len(text)):
        left, right = lexicon.by_plain.get(text[:cut]), lexicon.by_plain.get(text[cut:])
        if left and right and len(text) > 2:
            message = (
                f"{with_josa(_quoted(term), '은')} {with_josa(_at(left), '과')} {with_josa(_at(right), '을')} "
                "붙여 쓴 꼴입니다. "
                "사이에 쉼표나 줄 바꿈이 빠진 것은 아닌지 보세요."
            )
            yield Finding(term.line, "glued", Weight.LOOK, message)
            return
    if _SCRIPTS.search(text):
        message = f"{with_josa(_quoted(term), '은')} 한글과 숫자가 붙어 있습니다. 낱말 둘이 붙은 것은 아닌지 보세요."
        yield Finding(term.line, "glued", Weight.LOOK, message)


def _one_syllable(term: Term, lexicon: _Lexicon) -> Iterator[Finding]:
    if len(term.plain) == 1 and is_syllables(term.plain):
        message = (
            f"한 글자 낱말 {with_josa(_quoted(term), '은')} 다른 낱말 속에서도 걸리기 쉽습니다. "
            "두 글자가 넘는 낱말로 나누어 적거나, turnjudge lexicon try로 어디서 걸리는지 보세요."
        )
        yield Finding(term.line, "one_syllable", Weight.LOOK, message)


def _homograph(term: Term, lexicon: _Lexicon) -> Iterator[Finding]:
    known = homographs().get(term.plain)
    if known and not term.except_:
        contexts = "|".join(known.contexts[:_SHOWN])
        message = (
            f"{with_josa(_quoted(term), '은')} 다른 뜻으로도 흔히 쓰입니다: {known.sense}. "
            f"그런 문맥을 except에 적으세요. 예: {contexts}"
        )
        yield Finding(term.line, "homograph", Weight.LOOK, message)


def _idle_except(term: Term, lexicon: _Lexicon) -> Iterator[Finding]:
    for context in term.except_:
        if unspaced(term.term) not in unspaced(context):
            message = (
                f"except의 {quote(context)}에는 낱말 {with_josa(_quoted(term), '이')} 없어 아무 일도 하지 않습니다. "
                "낱말이 든 문맥으로 고치거나 지우세요."
            )
            yield Finding(term.line, "idle_except", Weight.FIX, message)


LINTS: Final[tuple[Lint, ...]] = (_nfd, _padded, _glued, _one_syllable, _homograph, _idle_except)


def _duplicates(lexicon: _Lexicon) -> Iterator[Finding]:
    seen: dict[tuple[str, str], Term] = {}
    for term in lexicon.terms:
        key = term.plain, plain_form(term.topic)
        first = seen.setdefault(key, term)
        if first is term:
            continue
        if (nfc(first.term), nfc(first.topic)) == (nfc(term.term), nfc(term.topic)):
            message = f"같은 낱말과 소재가 {first.line}행에 이미 있어 이 줄은 읽히지 않습니다. 이 줄을 지우세요."
            yield Finding(term.line, "duplicate", Weight.FIX, message)
        else:
            message = f"{first.line}행과 대소문자나 빈칸, 보이지 않는 글자만 다릅니다. 한 줄만 남기세요."
            yield Finding(term.line, "duplicate", Weight.LOOK, message)


def _modes(lexicon: _Lexicon) -> Iterator[Finding]:
    first: dict[str, Term] = {}
    for term in lexicon.terms:
        if term.mode is None:
            continue
        decides = first.setdefault(term.plain, term)
        if decides.mode != term.mode:
            message = (
                f"{with_josa(_quoted(term), '은')} {decides.line}행에서 mode {decides.mode}인데 여기서는 "
                f"{term.mode}입니다. 낱말 하나에는 앞 줄의 mode만 쓰이니 맞추세요."
            )
            yield Finding(term.line, "mode_differs", Weight.FIX, message)


def _nested(lexicon: _Lexicon) -> Iterator[Finding]:
    plain = list(lexicon.by_plain)
    if not plain:
        return
    matcher = AhoCorasick(plain, store_patterns=False)
    for term in lexicon.terms:
        inside = {plain[index] for index, _, _ in matcher.find_matches_as_indexes(term.plain, overlapping=True)}
        inside.discard(term.plain)
        if inside and not _SEPARATORS.search(term.term.strip()):
            shorter = sorted((lexicon.by_plain[text] for text in inside), key=lambda other: other.line)
            yield _nesting(term, shorter)


def _nesting(term: Term, shorter: list[Term]) -> Finding:
    named = ", ".join(_at(other) for other in shorter[:_SHOWN])
    named += f" 밖에 {len(shorter) - _SHOWN}개 낱말" if len(shorter) > _SHOWN else ""
    others = sorted({other.topic for other in shorter} - {term.topic})
    head = f"{_quoted(term)} 안에 {with_josa(named, '이')} 들어 있습니다. "
    if others:
        advice = (
            f"소재가 다르니({term.topic} / {', '.join(others[:_SHOWN])}) 긴 낱말이 나오면 양쪽 소재가 다 걸리고, "
            "카드가 막은 소재 가운데 사전에서 앞선 것이 판정에 적힙니다. 순서를 확인하세요."
        )
    else:
        advice = "소재가 같아 seed 프로필에서는 짧은 낱말만 있어도 걸립니다. 두 줄이 다 필요한지 보세요."
    return Finding(term.line, "nested", Weight.LOOK, head + advice)


def _at(term: Term) -> str:
    return f"{term.line}행의 {_quoted(term)}"


def _quoted(term: Term) -> str:
    return quote(nfc(term.term).strip())


def _named(separator: str) -> str:
    return {"\t": "탭이", "\n": "줄 바꿈이", "\r": "줄 바꿈이"}.get(separator, f"「{separator}」 글자가")
