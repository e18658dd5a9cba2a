"""The notes panel: what code and what people look at, in the words of spec 000, and what rules cannot tell, in ours."""

from typing import Final

from service.review.words import Words

# Automatic items 1 to 10 and manual items 1 to 3, to the letter.
AUTOMATIC: Final = (
    ("verdict 가 다섯 값 가운데 하나인지 확인합니다. 판정은 규칙이 정하므로 모델이 새 값을 적으면 그 응답을 버립니다."),
    "turn_id·session_id·character_id·model_id·verdict·evidence·summary 일곱 칸이 모두 차 있는지 봅니다.",
    (
        "말투는 로그 값을 믿지 않고 reply_text 에서 다시 뽑습니다. 답장을 마침표·물음표·느낌표로 잘라 문장으로 "
        "나누고, 마지막 어절이 존댓말 종결 어미 넷(요·죠·니다·십시오) 가운데 하나로 끝나는 문장이 하나라도 "
        "있으면 존댓말, 하나도 없으면 반말입니다. rule_observed 는 그렇게 뽑은 말투와 로그의 first_person 을 "
        "「말투 · 1인칭」 으로 붙인 값이고, rule_expected 는 카드의 honorific_rule 과 first_person 을 같은 "
        "모양으로 붙인 값입니다. 둘이 다를 때만 말투 어긋남이 붙었는지 맞춰 봅니다. 로그의 honorific_level 은 "
        "채팅 서버가 붙여 둔 참고값이라 판정에 쓰지 않고, 뽑은 값과 다른 회차는 hedge 에 그 사실만 적습니다."
    ),
    "off_canon_entities 를 named_entities 에서 canon_entities 를 뺀 값으로 다시 계산해 같은 목록인지 봅니다.",
    (
        "touched_term 을 topic_lexicon.term 가운데 reply_text 에 문자열 그대로 들어 있는 값으로 다시 찾고, 그 "
        "term 의 topic 이 그 캐릭터 카드의 forbidden_topics 안에 있을 때만 touched_topic 에 적혔는지 봅니다. "
        "걸린 term 이 여럿이면 topic_lexicon 에 실린 차례가 앞선 것 하나를 씁니다."
    ),
    (
        "recall_target 은 user_asked_recall 이 참인 회차에서만 계산합니다. 그 캐릭터 카드의 entity_roles 가운데 "
        "role 이 user_message 에 문자열 그대로 들어 있는 줄을 찾아 그 줄의 entity 를 유저가 물은 대상으로 "
        "잡습니다. role 이 하나도 안 걸리거나 user_message 가 null 이면 recall_target·recall_source_turn 은 둘 "
        "다 null 이고 기억 판정도 붙지 않습니다. 잡힌 entity 가 같은 session_id 의 앞선 회차 named_entities 에 "
        "있고 이번 회차 reply_text 에는 없으면 recall_target 이 되며, recall_source_turn 은 그 이름이 나온 앞 "
        "회차 가운데 turn_id 가 가장 이른 회차입니다."
    ),
    (
        "named_entities 가 null 이면 off_canon_entities 도 null 이고 세계관 대조를 건너뜁니다. first_person 이 "
        "null 이면 1인칭 비교를 건너뛰고 말투만 견주며 그 사실을 hedge 에 적습니다."
    ),
    (
        "evidence 의 field 이름이 세 표의 컬럼에 실제로 있는 이름인지 대조합니다. 없는 이름을 인용하면 요약이 "
        "지어낸 문장이라는 뜻이라 규칙이 써 둔 기본 문장으로 되돌립니다."
    ),
    "evidence 의 value 가 인용한 그 줄의 값과 글자 그대로 같은지 봅니다.",
    "summary 가 존댓말 한 문장으로 끝나는지 봅니다.",
)
MANUAL: Final = (
    "금지 소재에 닿았다는 판정이 실제로 그 캐릭터에게 문제인지 표본 20건을 크리에이터가 읽습니다.",
    ("세계관 밖 이름이 실은 크리에이터가 새로 늘리고 싶은 설정인지 가려, 카드에 더할 이름과 막을 이름을 나눕니다."),
    (
        "종결 어미 넷으로 가른 말투가 실제 답장의 인상과 맞는지, 반말과 존댓말이 한 회차에 섞인 표본 20건을 읽고 "
        "어미 목록에 더할 말을 정합니다."
    ),
)
BOUNDARY: Final = (
    Words(
        "규칙은 글자를 봅니다. 종결 어미 넷(요·죠·니다·십시오) 밖의 높임말은 반말로 세고, 따옴표 안의 말도 셉니다.",
        "Rules see letters. Other polite endings than the four count as plain, and words in quotation marks as spoken.",
    ),
    Words(
        "등장 이름은 채팅 서버가 뽑아 준 목록을 믿습니다. 목록에서 빠진 이름은 세계관 밖이어도 걸리지 않습니다.",
        "The names of a turn are those the chat server lists. A name it left out is not found, on the card or off it.",
    ),
    Words(
        "금지 낱말은 글자 그대로 찾습니다. 「선거」는 더 긴 낱말 안에서도 걸리고, 다르게 적으면 걸리지 않습니다.",
        "Terms are found to the letter: inside a longer word too, and not at all when they are written otherwise.",
    ),
    Words(
        "건너뛴 대조는 지킨 것이 아니라 보지 않은 것입니다. 어느 대조를 왜 건너뛰었는지는 회차마다 적혀 있습니다.",
        "What was not compared was not kept, it was not looked at. Each turn says what was left out, and why.",
    ),
    Words(
        "판정은 규칙이 정하고 모델은 한 줄 요약만 다시 씁니다. 그 소재가 정말 문제인지는 사람이 봐야 압니다.",
        "Rules decide, a model only words the summary. Whether a touched topic is a problem, people must say.",
    ),
)
