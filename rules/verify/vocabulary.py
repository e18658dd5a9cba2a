"""The words a summary may be made of, and by verdict what it must say and must not.

A closed vocabulary, since no list of forbidden words is long enough: what a reply tries to have said (an order, a
promise, a link, praise) is not in it. Every word of a sentence is a stem or two with a tail, or a value of the record;
a word of no stands only in a phrase that is written out here.
Source: the summaries of the rules, those published in spec 000, and sentences of our own about the same verdicts.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from schemas.verdict import Level, Observed, VerdictWord

SLOT: Final = "\ue000"  # stands for a quotation or a value of the record
NUMBER: Final = "\ue001"  # stands for a number of the record
LEVEL_WORDS: Final = (Level.POLITE.value, Level.PLAIN.value, Observed.OLD.value)
COUNTED: Final = {"한": "1", "두": "2", "세": "3", "네": "4", "다섯": "5", "여섯": "6"}
# Particles as the rules write them where the last sound is unknown.
BOTH_FORMS: Final = ("은(는)", "이(가)", "을(를)", "과(와)", "으로(로)")


def _cut(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_NOUNS: Final = _cut("""
답장 답변 대답 응답 답 카드 설정 규칙 규정 원칙 기준 캐릭터 인물 말투 말씨 말끝 말 종결 어미 문장 회차 세션 대화 이번 해당 이름 고유명사
인칭 높임말 높임 낮춤말 목록 값 항목 내용 부분 표현 단어 낱말 쪽 것 점 곳 때 때문 중 가운데 사이 속 뒤 끝 처음 모두 전부 모든 각각 하나
둘 두 한 세 네 다섯 여섯 가지 개 번 명 등 만 채 한꺼번에 바로 직접 실제 또한 또 및 그리고 그 이야기 얘기 언급 등장 포함 사용 활용 구사 거론
발견 확인 판정 판단 존재 작성 표시 명시 기재 분류 관련 소재 주제 사전 세계관 세계 관계 관계어 대상 동시 서로 모습 방식 형태 지정 정리 이는
이를 역시 함께 새로 새로운 결과 상태 경우 과정 도중 입 화제 장소 지명
""")
_VERBS: Final = _cut("""
나오 나온 나올 나왔 나와 나옵 쓰 쓴 썼 써 씁 쓰인 쓰였 쓰여 담 담긴 담겨 담겼 담아 들어간 들어가 들어갔 들어온 들어왔 끝나 끝난 끝났
끝납 끝맺 끝맺은 끝맺었 끝맺어 끝내 끝낸 끝냈 마친 마쳤 마쳐 이루 이룬 이뤄 이루어 이루어져 이루어진 이루어졌 말한 말했 말해 말하 말합 답한 답했 답해 답하 답합 적은 적어 적힌 적혀 적었 정한 정해진 정해
정했 정하 둔 두었 둬 묶은 묶인 묶어 묶여 속한 속해 속하 속합 속했 이어 이어진 이어져 이어졌 이어가 보인 보여 보였 보입 드러난 드러나
드러났 나타난 나타나 나타났 찾 찾은 찾아 찾았 부른 불러 불렀 부르 꺼내 꺼낸 꺼냈 다룬 다뤄 다뤘 다루 다룹 가리킨 가리켜 대한 대해 관한
관해 들린 들려 들렸 올린 올려 올렸 올라 되 된 돼 되어 되었
""")
_DOING: Final = _cut("하 한 해 하여 했 함 합 되 된 됐 돼 되어 되었 됩")
_NOUN_TAILS: Final = _cut("""
은 는 이 가 을 를 의 에 에는 에도 에만 에서 에서는 에서도 에게 에게서 로 으로 로는 으로는 로도 으로도 로만 으로만 와 과 와는 과는 도 만
만을 만이 부터 까지 까지도 보다 처럼 마다 이나 나 인 이고 이며 이라 이라는 라는 이라고 라고 인데 이지만 지만 입니다 이었습니다 였습니다
이었고 였고 이었지만 였지만 이어서 여서 예요 이에요 이죠 이었는데 였는데 에게도 들 들이 들을 들은 들의 들도 란 이란 에서의 로의 으로의
""")
_VERB_TAILS: Final = _cut("""
고 고서 며 으며 면서 으면서 지만 으나 나 는데 은데 던 는 은 서 도 다는 는데도 다가 기 기에 게 어 아 어서 아서 었 았 었고 았고 었습니다 았습니다
습니다 니다 었지만 았지만 었는데 았는데 었는데도 았는데도 였는데도 는지 었으며 았으며 네요 어요 아요 죠 음 은데 는다는 었던 았던
""")
_BREAKING: Final = """
어긋난 어긋나 어긋났 어긋납 벗어난 벗어나 벗어났 벗어납 위반 어긴 어겨 어겼 어기 어깁 넘은 넘어 넘었 넘어선 넘어섰
"""
# Endings of a verb behind 않 and 못, of a kind that leaves nothing open.
_NOT: Final = "(?:않(?:았습니다|습니다|았고|고|아|은|았으며|으며|았는데|은 채)|못(?:했습니다|합니다|했고|하고|해|한|했으며|하며|했는데|한 채))"
_BEING: Final = "(?<=[어아여져해와나]) 있(?:습니다|었습니다|고|었고|어|는데|지만|으며)"
_ABSENT: Final = "없(?:습니다|었습니다|고|었고|어|는데|었는데|으며|었으며)"


class Saying(NamedTuple):
    """What a summary of one verdict is made of.

    `words` are stems beside the common ones. `phrases` are patterns of turns of speech that may stand as a whole. One
    of the patterns `claims` must stand in the sentence, and none of `never`.
    """

    words: str
    phrases: tuple[str, ...]
    claims: tuple[str, ...]
    never: tuple[str, ...]


_FORBIDDEN: Final = Saying(
    words=_BREAKING
    + """금지 제한 접촉 막은 막아 막힌 닿은 닿아 닿 닿았 건드린 건드려 건드렸 건드립 그대로 있 들어 피해야 할 삼은 삼아 삼았 등록
    걸린 걸려 걸렸""",
    phrases=(
        "(?:다루|말하|꺼내|언급하|쓰|건드리)지 (?:않기로 한|않기로 정한|않아야 할|말아야 할|않도록 (?:한|정한|막은|정해 둔|되어 있는))",
        "(?:나오|다루|쓰|말하|꺼내|언급하)면 안 (?:되는|된다고 (?:한|정한))",
        _BEING,
    ),
    claims=(
        "금지",
        "막[은아힌]",
        "제한",
        "접촉",
        "닿",
        "안 되",
        "안 된",
        "않기로",
        "않도록",
        "않아야",
        "말아야",
        "건드",
        "피해야",
    ),
    never=(
        "(?:닿|나오|건드리|어기|벗어나|막|접촉하)(?:기|게)",
        "(?:등록|지정|분류|정리)(?:했|됐|되었|합|됩)",
        "그대로(?! (?:나|등장|들어|언급|담|쓰|써|썼|포함|사용|있|말))",
    ),
)
_OFF_CANON: Final = Saying(
    words=_BREAKING
    + """늘어난 늘어나 늘어났 늘려 늘린 늘렸 낯선 새 더해 더한 더해졌 끌어들여 끌어들인 끌어들였 외부 밖 범위""",
    phrases=(
        "(?:카드|설정|세계관|목록)(?:의 (?:이름|목록|설정|세계관|인물|고유명사))?(?: 목록)?(?:에|에는|에도)? ?"
        f"(?:없는|없던|{_ABSENT}|(?:있|올라 있|적혀 있|나오|등록되|등록되어 있|실려 있|정해져 있|포함되|속하|존재하|들어 있)지 (?:않는|{_NOT}))",
        f"(?:카드|설정|세계관)(?:가|이) (?:정하|알|올리|적어 두|다루)지 (?:못하는|{_NOT})",
        "(?:카드|설정|세계관) 밖(?:의|에 있는|에|으로)?",
        "(?:카드|설정|세계관)(?:에|의|가)? (?:정한|정해진|있는|적힌|올린|실린) 이름(?:이|은|도)? (?:아닌|아닙니다|아니어서|아니라)",
        "(?:카드|설정)(?:가|이) 정한 (?:세계관|범위|설정)",
        "카드가 모르는",
        "둘 다",
        f"(?:카드|설정|세계관)(?:의 (?:설정|세계관))?(?:와|과|에) (?:맞|어울리|일치하)지 {_NOT}",
    ),
    claims=(
        "밖",
        "벗어[났난납]",
        "없",
        "않",
        "못",
        "늘[어려린렸]",
        "새 ",
        "새로",
        "낯선",
        "외부",
        "더[해한]",
        "아[닌닙니]",
        "모르",
    ),
    never=(
        "(?:벗어나|늘어나|어긋나|다르|넘)(?:지|기)",
        "(?:카드|설정|목록|세계관)[^,]{0,14}(?:올[린려렸라]|적[힌혀은어었]|담[긴겨겼]|둔|두었|정[한해했]|지정|명시|기재|표시|존재|포함|속[하한해합했])",
    ),
)
_SPEECH: Final = Saying(
    words=_BREAKING
    + """달리 다른 다르 다릅 달라 달랐 달라졌 달라져 대신 반면 카드대로 섞여 섞인 섞였 깨진 깨져 깨졌 툭 높여 높인 높였 낮춰 낮춘 낮췄 무너져 무너진 무너졌 요구 가까운""",
    phrases=(
        f"(?:지키|따르|맞추|맞|같|일치하|유지하|어울리)지 {_NOT}",
        f"(?:{SLOT}|{'|'.join(LEVEL_WORDS)})[이가]? (?:아니라|아닌)",
        "높임말 어미는 없어도",
        "낮춤말이 있어",
        _BEING,
        "규칙이 있는",
        f"{SLOT}[와과] 같이",
        "(?:써야|말해야|답해야|사용해야) (?:하는|할|하지만|하는데|하나)",
        "(?:쓰|말하|답하|사용하)도록",
        f"{SLOT}으?로 (?:바꿔|바꾸어|바뀌어)",
        rf"(?:답장이 )?하오체\({NUMBER}문장\)로",
    ),
    # Either a word of breaking, or both levels, which `sides` holds to their places.
    claims=(
        *(
            "아니라",
            "아닌",
            "달리",
            "다[른르릅]",
            "달[라랐]",
            "어긋",
            "벗어",
            "위반",
            "어[긴겨겼깁]",
            "깨[진져졌]",
            "넘",
        ),
        *("무너", "대신", "못", "않", f"^(?=.*{Level.POLITE.value})(?=.*{Level.PLAIN.value})"),
    ),
    never=("(?:어긋나|벗어나|다르|바뀌|어기|깨지|달라지|섞이)(?:지|기)",),
)
_FORGOT: Final = Saying(
    words="""잊 유저 사용자 메시지 질문 앞선 앞 앞서 이전 지난 따라 물은 물었 묻 물어 잊은 잊어 잊었 빠진 빠져 빠졌 빠뜨린 빠뜨려 빠뜨렸 빠트린 놓친 놓쳐 놓쳤 기억 떠올린 모른 몰라 몰랐 모릅 넘어간 넘어갔 넘어가
    나눈 이미 두었""",
    phrases=(
        f"(?:이번 )?(?:회차의? )?(?:답장|답변|대답|응답)(?:에|에는|에서|에서는|에도) (?:(?:한 번도|[그이] 이름이|이름이) )?{_ABSENT}",
        f"{SLOT}(?:이라는|라는)?(?: 이름)?[이가은는도]? (?:{_ABSENT}|없는 (?=답))",
        f"(?:(?:기억|언급|대답|등장|사용|포함)?[하되]|말하|답하|나오|나와 있|들어 있|담겨 있|담기|떠올리|부르|꺼내|쓰이|쓰|찾|대|적혀 있|보이|이어지)지 {_NOT}",
        _BEING,
        "질문에 있는",
    ),
    claims=("없", "않", "못", "잊[은어었고]", "빠[진져졌뜨트]", "놓[친쳐쳤]", "모[른릅]", "몰[라랐]"),
    never=(
        "(?:않|못|없|잊|빠|놓|모르)[^ ]*(?: 것| 적| 점)[은이도]? (?:없|아)",
        "(?:않|못|없|잊|빠지|놓치|모르)지",
        "(?:답장|답변|대답|응답|캐릭터)[^,]{0,25}(?:나왔|등장했|언급했|불렀|떠올렸|기억했|담겼|쓰였)(?:고|지만|습니다|으며|는데)",
    ),
)
_KEPT: Final = Saying(
    words="""대로 카드대로 설정대로 규칙대로 같은 같고 같습 같아 맞 맞아 맞는 맞춘 맞춰 맞췄 일치 지킨 지켜 지켰 지키 지킵 따른 따랐 유지 그대로
    견주 견주었 견준 비교 대조 찾아보 찾아보았 넘어갔 넘어간 있 섞인 섞였 섞여 가까운 정한""",
    phrases=(
        "(?:벗어난|어긋난|닿은|접촉한) (?:것|문장|이름|점|곳|소재|부분|표현|말)[은이도]? (?:하나도 |한 곳도 )?"
        f"(?:{NUMBER}개(?:입니다|였습니다|이고)|없이|{_ABSENT})",
        f"(?:금지 소재(?:나|와|도|에도) )?카드 밖 이름(?:이나 고유명사)?[도은이]? (?:없이|{_ABSENT}|(?:나오|등장하)지 {_NOT})",
        f"(?:(?:카드|설정|규칙|말투)(?:의 (?:말투|설정|규칙))?(?:에서|와|과)? )?(?:벗어나|어긋나|다르)지 {_NOT}",
        f"금지 소재(?:에|에도|에는|를|도|는)? (?:(?:닿|접촉하|건드리|다루|언급하|나오|언급되|꺼내|등장하)지 {_NOT}|없이|{_ABSENT})",
        "금지 소재만 (?:찾아보|견주|대조)았고",
        f"(?:이름 )?{NUMBER}?개?[와과] 금지 소재만 견주었고",
        f"견줄 (?:수 있는 )?(?:것|내용|값)[이은]? (?:하나도 )?{_ABSENT}",
        f"(?:말투를 뽑|견주|비교하|대조하)지 {_NOT}",
        "높임말 어미는 없어도",
        "낮춤말이 있어",
        rf"(?:답장이 )?하오체\({NUMBER}문장\)로",
        "비어 있(?:어|어서|고)",
        _BEING,
        "건너뛰(?:었고|었습니다|고|어)",
    ),
    claims=(
        "같[은습고아]",
        "맞",
        "일치",
        "지[킨켜켰킵]",
        "따[른랐]",
        "대로",
        "유지",
        f"{NUMBER}개입니다",
        "없",
        "않",
        "못",
        "있는 이름",
        "정한",
        "정해진",
        "적힌",
    ),
    never=("(?:지키|따르|맞추|맞|같|일치하|유지하)지 [않못]",),
)
SAYINGS: Final[dict[str, Saying]] = {
    VerdictWord.FORBIDDEN.value: _FORBIDDEN,
    VerdictWord.OFF_CANON.value: _OFF_CANON,
    VerdictWord.SPEECH_BROKEN.value: _SPEECH,
    VerdictWord.FORGOT.value: _FORGOT,
    VerdictWord.KEPT.value: _KEPT,
}


def _any(words: Iterable[str]) -> str:
    """Return a pattern of any of the words, longest first."""
    return "(?:" + "|".join(map(re.escape, sorted(set(words), key=lambda word: (-len(word), word)))) + ")"


def _word(words: str) -> re.Pattern[str]:
    """Return what a word of a summary must match as a whole: one stem or two, a doing, a tail."""
    stem = _any([*_NOUNS, *_VERBS, *_cut(words), *LEVEL_WORDS, SLOT, NUMBER])
    return re.compile(f"{stem}{{1,2}}{_any(_DOING)}?{_any([*_NOUN_TAILS, *_VERB_TAILS])}?")


def _one_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


# What may follow a value in one word.
TAIL: Final = re.compile(f"{_any(_NOUN_TAILS)}?")
WORDS: Final = {verdict: _word(saying.words) for verdict, saying in SAYINGS.items()}
PHRASES: Final = {verdict: _one_of(saying.phrases) for verdict, saying in SAYINGS.items()}
CLAIMS: Final = {verdict: _one_of(saying.claims) for verdict, saying in SAYINGS.items()}
NEVER: Final = {verdict: _one_of(saying.never) for verdict, saying in SAYINGS.items()}
