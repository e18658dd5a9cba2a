"""The three examples of spec 001, outputs of our own for each, and a case made of all three."""

from typing import Any, NamedTuple

Row = dict[str, Any]

PRODUCT: Row = {
    "must_include": [
        ["원금 보장", "원금 100% 보장", "손실 없음"],
        ["연 3.5%", "3.5퍼센트", "3.5%"],
        "중도 해지 수수료",
    ]
}
COMPLIANCE: Row = {
    "must_not_include": ["확정 수익", "투자 손실 없음 보장", "A사(경쟁사) 상품", "절대적", "무조건"],
}
SUPPORT: Row = {
    "logical_flow": [
        {"step": 1, "check": "고객의 현재 불편 상황에 대한 명확한 공감 및 사과 표현"},
        {"step": 2, "check": "원인 규명: 글로벌 네트워크 DNS 라우팅 지연 문제임을 원인으로 명시"},
        {"step": 3, "check": "해결책 안내: 공유기 및 라우터 재부팅에 대한 Step-by-Step 가이드라인 제시"},
        {"step": 4, "check": "후속 조치: 미해결 시 유선 엔지니어 핫라인 전화번호 안내"},
    ]
}
WHOLE: Row = PRODUCT | COMPLIANCE | SUPPORT

TERMS = "이 예금은 원금 100% 보장이고 연 3.5% 이자를 드리며, 중도 해지 수수료가 있습니다."
TERMS_OTHERWISE = "손실 없음, 3.5퍼센트, 중도 해지 수수료 0원."
NO_FEE = "이 예금은 원금 100% 보장이고 연 3.5% 이자를 드립니다."
PROMISING = f"{TERMS} 무조건 이득입니다."
SORRY = "인터넷이 느려 불편하셨죠, 죄송합니다."
CAUSE = "원인은 글로벌 네트워크의 DNS 라우팅 지연입니다."
REMEDY = "공유기 전원을 끄고, 30초 뒤 라우터부터 다시 켜 주세요."
HOTLINE = "그래도 안 되면 엔지니어 핫라인 02-000-0000으로 전화 주세요."
IN_ORDER = f"{SORRY} {CAUSE} {REMEDY} {HOTLINE}"
CAUSE_LAST = f"{SORRY} {REMEDY} {HOTLINE} {CAUSE}"
NO_HOTLINE = f"{SORRY} {CAUSE} {REMEDY}"

QUOTES = {1: "불편하셨죠, 죄송합니다", 2: "DNS 라우팅 지연", 3: "공유기 전원을 끄고", 4: "핫라인 02-000-0000"}


class Sample(NamedTuple):
    """An output to criteria; `found` is what decides: PASS, or where it fails."""

    name: str
    criteria: Row
    output: str
    word: str
    found: str


SAMPLES = (
    Sample("product-pass", PRODUCT, TERMS, "PASS", "기준 충족"),
    Sample("product-pass-other-words", PRODUCT, TERMS_OTHERWISE, "PASS", "기준 충족"),
    Sample("product-missed", PRODUCT, NO_FEE, "FAIL", "필수 묶음 누락"),
    Sample("product-empty-output", PRODUCT, "", "FAIL", "필수 묶음 누락"),
    Sample("compliance-pass", COMPLIANCE, TERMS, "PASS", "기준 충족"),
    Sample("compliance-empty-output", COMPLIANCE, "", "PASS", "기준 충족"),
    Sample("compliance-banned", COMPLIANCE, PROMISING, "FAIL", "금지어 검출"),
    Sample("compliance-banned-name", COMPLIANCE, "A사(경쟁사) 상품도 있습니다.", "FAIL", "금지어 검출"),
    Sample("support-pass", SUPPORT, IN_ORDER, "PASS", "기준 충족"),
    Sample("support-missing-step", SUPPORT, NO_HOTLINE, "FAIL", "논리 흐름 실패"),
    Sample("support-order", SUPPORT, CAUSE_LAST, "FAIL", "논리 흐름 순서 어긋남"),
    Sample("whole-pass", WHOLE, f"{TERMS} {IN_ORDER}", "PASS", "기준 충족"),
    Sample("whole-missed", WHOLE, f"{NO_FEE} {IN_ORDER}", "FAIL", "필수 묶음 누락"),
    Sample("whole-banned-though-met", WHOLE, f"{PROMISING} {IN_ORDER}", "FAIL", "금지어 검출"),
    Sample("whole-banned-and-missed", WHOLE, f"{NO_FEE} 절대적입니다. {IN_ORDER}", "FAIL", "금지어 검출"),
    Sample("whole-order", WHOLE, f"{TERMS} {CAUSE_LAST}", "FAIL", "논리 흐름 순서 어긋남"),
)


def answers_to(sample: Sample) -> list[Row]:
    """What a judge says who looks for each step's words: PASS with a quote where they stand, else FAIL."""
    return [
        {"id": sample.name, "step": step, "pass": quote in sample.output, "reason": "찾아봄"}
        | ({"quote": quote} if quote in sample.output else {})
        for step, quote in QUOTES.items()
    ]
