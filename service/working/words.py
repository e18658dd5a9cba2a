"""The working of a verdict in Korean sentences: why each verdict stands, or does not."""

from collections.abc import Callable
from typing import Final

from rules.wording import quote, with_josa
from rules.working import Gap, Met, Result, State, Working
from schemas.verdict import Observed, VerdictWord
from schemas.witness import Tier

_GAPS: Final = {
    Gap.NO_REPLY: "답장이 비어 있어 견주지 못했습니다.",
    Gap.NO_NAMES: "등장 이름 목록이 비어 있어 견주지 못했습니다.",
    Gap.NO_HANGUL: "답장에 한글 문장이 없어 말투를 뽑지 못했습니다.",
    Gap.LEVEL_UNCLEAR: "답장의 말끝에서 존댓말인지 반말인지 알 수 없어 견주지 못했습니다.",
    Gap.NOT_ASKED: "유저가 앞 이야기를 물은 회차가 아니어서 견주지 않았습니다.",
    Gap.NO_MESSAGE: "유저가 앞 이야기를 물었지만 유저 메시지가 비어 있어 견주지 못했습니다.",
    Gap.NO_ROLE: "유저가 앞 이야기를 물었지만 메시지에 카드의 관계어가 없어 견주지 못했습니다.",
    Gap.NOT_NAMED: "유저가 물은 이름이 앞선 회차에 나온 적이 없어 견주지 못했습니다.",
}
_KEPT: Final = VerdictWord.KEPT.value


def because(result: Result, working: Working) -> str:
    """Say in one or two sentences why a verdict stands, comes second, does not hold or was not compared."""
    if result.verdict == _KEPT:
        if result.state is State.DECIDED:
            return "앞의 네 가지에 모두 해당하지 않아 이 판정이 되었습니다."
        return f"{with_josa(quote(working.verdict), '이')} 해당해 이 판정이 될 수 없습니다."
    if result.gap is not None:
        return _GAPS[result.gap]
    found = _FOUND[result.verdict](working.met)
    if result.state is State.HELD_LATER:
        return f"{found} 그러나 차례가 앞선 {with_josa(quote(working.verdict), '이')} 먼저 판정이 되었습니다."
    return found


def _forbidden(met: Met) -> str:
    hits, touched = met.hits, met.touched
    if touched is not None and touched.forbidden:
        topic = with_josa(quote(touched.topic), "으로")
        return f"카드가 막은 {topic} 묶인 {with_josa(quote(touched.term), '이')} 답장에 있습니다."
    if any(term.tier is Tier.REVIEW and term.forbidden for term in met.terms or ()):
        return "막은 소재의 낱말이 더 긴 말의 한 부분일 수 있어 닿은 것으로 치지 않고 검토로 남겼습니다."
    if hits:
        return f"답장에 사전 낱말이 {len(hits)}개 있지만 카드가 막은 소재의 것은 없습니다."
    if met.terms:
        return "답장에 사전 낱말과 같은 글자가 있지만 다른 말의 한 부분이거나 예외로 적은 문맥이라 세지 않았습니다."
    return "답장에 사전 낱말이 하나도 없습니다."


def _off_canon(met: Met) -> str:
    strangers = met.strangers
    if len(strangers) > 1:
        return f"카드에 없는 이름이 {quote(strangers[0])} 등 {len(strangers)}개 등장했습니다."
    if strangers:
        return f"카드에 없는 이름 {with_josa(quote(strangers[0]), '이')} 등장했습니다."
    if not met.names:
        return "등장한 이름이 없습니다."
    return f"등장한 이름 {len(met.names)}개가 모두 카드에 있습니다."


def _speech(met: Met) -> str:
    speech = met.speech
    if speech.level_differs or speech.person_differs:
        what = "말투가" if not speech.person_differs else "말투와 1인칭이" if speech.level_differs else "1인칭이"
        return f"{what} 카드와 다릅니다. 카드는 {quote(speech.expected)}, 답장은 {quote(speech.observed or '')}입니다."
    if speech.level == Observed.OLD.value:
        return "하오체로 들렸고, 하오체는 어느 카드의 말투와도 어긋나지 않습니다."
    if speech.person_compared:
        return "말투와 1인칭이 모두 카드와 같습니다."
    return "말투가 카드와 같습니다. 1인칭은 카드나 로그에 없어 견주지 않았습니다."


def _recall(met: Met) -> str:
    lost = met.forgotten
    if lost is not None:
        asked, name = with_josa(quote(lost.role), "을"), with_josa(quote(lost.entity), "이")
        return f"유저가 {asked} 물었는데 앞선 회차 {quote(lost.source_turn or '')}에 나온 {name} 답장에 없습니다."
    if any(role.unsure and role.source_turn is not None for role in met.roles or ()):
        return "유저가 물은 이름을 답장이 부른 것인지 분명하지 않아 기억 못 한 것으로 치지 않고 검토로 남겼습니다."
    return "유저가 물은 이름이 답장에 있습니다."


_FOUND: Final[dict[str, Callable[[Met], str]]] = {
    VerdictWord.FORBIDDEN.value: _forbidden,
    VerdictWord.OFF_CANON.value: _off_canon,
    VerdictWord.SPEECH_BROKEN.value: _speech,
    VerdictWord.FORGOT.value: _recall,
}
