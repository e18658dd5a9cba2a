"""What a verdict did not or could not compare: the closed list of codes and their sentences."""

from enum import StrEnum
from typing import Final


class HedgeCode(StrEnum):
    """One code a finding, in the order their sentences take in the hedge (design section 4).

    LEVEL_UNCLEAR, TERM_REVIEW and RECALL_UNSURE are of the `extended` profile (issue 5).
    """

    NAMES_NULL = "names_null"
    NO_REPLY = "no_reply"
    FIRST_PERSON_NULL = "first_person_null"
    LEVEL_UNKNOWN = "level_unknown"
    LEVEL_UNCLEAR = "level_unclear"
    LEVEL_DIFFERS = "level_differs"
    MIXED_LEVELS = "mixed_levels"
    HONORIFIC_FORM = "honorific_form"
    TERM_REVIEW = "term_review"
    NO_CANON = "no_canon"
    RECALL_NO_MESSAGE = "recall_no_message"
    RECALL_NO_ROLE = "recall_no_role"
    RECALL_NOT_NAMED = "recall_not_named"
    RECALL_UNSURE = "recall_unsure"
    ROLES_OVERLAP = "roles_overlap"


# The first sentence is the published one; it may stand only where it is true.
NAMES_NULL_ONLY: Final = "등장 이름 목록이 비어 있어 세계관 대조는 건너뛰고 말투와 금지 소재만 맞춰 봤습니다."
NAMES_NULL: Final = "등장 이름 목록이 비어 있어 세계관 대조는 건너뛰었습니다."
NO_REPLY: Final = "답장이 비어 있어 말투와 금지 소재는 맞춰 보지 못했습니다."
NO_REPLY_RECALL: Final = "답장이 비어 있어 말투와 금지 소재, 기억은 맞춰 보지 못했습니다."
FIRST_PERSON_NULL_TURN: Final = "로그의 1인칭이 비어 있어 1인칭 비교는 건너뛰었습니다."
FIRST_PERSON_NULL_CARD: Final = "카드의 1인칭이 비어 있어 1인칭 비교는 건너뛰었습니다."
FIRST_PERSON_NULL_BOTH: Final = "카드와 로그의 1인칭이 모두 비어 있어 1인칭 비교는 건너뛰었습니다."
LEVEL_UNKNOWN: Final = "답장에 한글 문장이 없어 말투를 뽑지 못했고 말투 비교는 건너뛰었습니다."
LEVEL_UNCLEAR: Final = "답장의 말끝에서 존댓말인지 반말인지 알 수 없어 말투 비교는 건너뛰었습니다."
LEVEL_DIFFERS: Final = "로그에 적힌 말투(「{logged}」)가 답장에서 뽑은 말투({level})와 다릅니다."
MIXED_LEVELS: Final = "존댓말 문장 {polite}개와 반말 문장 {plain}개가 한 답장에 섞여 있습니다."
HONORIFIC_FORM: Final = "반말로 센 문장에 「{word}」처럼 종결 어미 목록에 없는 높임 꼴이 있습니다."
TERM_REVIEW: Final = "사전 낱말(「{term}」)이 더 긴 말의 한 부분일 수 있어 닿은 것으로 치지 않고 검토로 남겼습니다."
TERM_REVIEW_MORE: Final = (
    "사전 낱말(「{term}」 외 {more}개)이 더 긴 말의 한 부분일 수 있어 닿은 것으로 치지 않고 검토로 남겼습니다."
)
NO_CANON: Final = "카드에 올린 이름이 하나도 없어 등장 이름이 있으면 모두 카드 밖 이름이 됩니다."
RECALL_NO_MESSAGE: Final = "유저가 앞 이야기를 물은 회차인데 유저 메시지가 비어 있어 기억 대조는 건너뛰었습니다."
RECALL_NO_ROLE: Final = "유저가 앞 이야기를 물었지만 메시지에 카드의 관계어가 없어 기억 대조는 건너뛰었습니다."
RECALL_NOT_NAMED: Final = "유저가 물은 이름(「{name}」)이 앞선 회차에 나온 적이 없어 그 기억은 견주지 못했습니다."
RECALL_NOT_NAMED_MORE: Final = (
    "유저가 물은 이름(「{name}」 외 {more}개)이 앞선 회차에 나온 적이 없어 그 기억은 견주지 못했습니다."
)
RECALL_UNSURE: Final = (
    "유저가 물은 이름(「{name}」)이 답장에서 사람을 부른 것인지 분명하지 않아 기억 못 한 것으로 치지 않고 "
    "검토로 남겼습니다."
)
ROLES_OVERLAP: Final = (
    "메시지에서 찾은 관계어(「{first}」, 「{second}」)가 서로 겹쳐 누구를 물었는지 분명하지 않습니다."
)
