"""Settings of a model's endpoint, prefix TURNJUDGE_LLM_ (issue 7)."""

import re
from ipaddress import ip_address
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_settings import BaseSettings

from service.settings import FROM_ENVIRONMENT, Count, Expected, File, Seconds, Switch, line_of, variable_of

_LABEL: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_URL: Final = re.compile(
    rf"https?://(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{1,5}})?(?:/[A-Za-z0-9._~%/-]*)?", re.IGNORECASE
)
_CHAT: Final = "/chat/completions"


def _url(value: str) -> str:
    base = value.strip().rstrip("/")
    if not _URL.fullmatch(base) or base.lower().endswith(_CHAT):
        raise ValueError
    parts = urlsplit(base)
    if parts.port == 0:  # and over 65535 it raises
        raise ValueError
    if "[" in parts.netloc:
        ip_address(parts.hostname or "")
    return base


def _filled(value: str) -> str:
    if not value.strip():
        raise ValueError
    return value.strip()


_Url = Annotated[
    str,
    AfterValidator(_url),
    Expected(f"a URL such as https://host/v1 (http or https; without user, query and {_CHAT})"),
]
_Model = Annotated[str, AfterValidator(_filled), Expected("the name of a model as the endpoint knows it")]
_Attempts = Annotated[int, Field(ge=1, le=20), Expected("a whole number from 1 to 20")]
_Places = Annotated[int, Field(ge=1, le=1_000), Expected("a whole number from 1 to 1000")]
_Calls = Annotated[int, Field(ge=1, le=10**9), Expected("a whole number from 1 to 1000000000")]
_Tokens = Annotated[Annotated[int, Field(ge=1, le=10**12)] | None, Expected("a whole number from 1 to 1000000000000")]
_Money = Annotated[
    Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)] | None, Expected("a number from 0 to 1000000000")
]
_Temperature = Annotated[float, Field(ge=0, le=2, allow_inf_nan=False), Expected("a number from 0 to 2")]
_Format = Annotated[
    Literal["json_schema", "json_object", "none"],
    BeforeValidator(str.lower),
    Expected("one of json_schema, json_object, none"),
]
_LimitField = Annotated[
    Literal["max_tokens", "max_completion_tokens"],
    BeforeValidator(str.lower),
    Expected("one of max_tokens, max_completion_tokens"),
]


class LlmSettings(BaseSettings):
    """Which model is asked, how, and how much it may cost."""

    model_config = FROM_ENVIRONMENT

    llm_url: _Url = Field(description="base URL of the model's endpoint, such as https://host/v1")
    llm_model: _Model = Field(description="the model, as the endpoint calls it")
    llm_api_key_file: File = Field(None, description="file that holds the endpoint's key, sent as a bearer token")
    llm_allow_key_without_tls: Switch = Field(False, description="let the key leave this machine unencrypted")
    llm_ca_file: File = Field(None, description="certificates to trust (PEM); the system's if not set")
    llm_use_proxies: Switch = Field(False, description="go through the proxies that HTTPS_PROXY and the like name")
    llm_timeout_s: Seconds = Field(
        30.0, description="longest time of one request, connecting and reading included, and of a pause before the next"
    )
    llm_attempts: _Attempts = Field(
        3, description="requests one question may take, where the endpoint is to blame for the others"
    )
    llm_concurrency: _Places = Field(4, description="requests under way at a time")
    llm_max_calls: _Calls = Field(10_000, description="requests a run may send")
    llm_max_tokens: _Tokens = Field(None, description="tokens a run may use, of prompts and answers")
    llm_max_money: _Money = Field(None, description="money a run may cost; it needs both prices")
    llm_price_in: _Money = Field(None, description="price of a million tokens of prompt")
    llm_price_out: _Money = Field(None, description="price of a million tokens of answer")
    llm_answer_tokens: Count = Field(1_000, description="tokens one answer may have")
    llm_limit_field: _LimitField = Field(
        "max_tokens", description="what the endpoint calls that limit: max_tokens or max_completion_tokens"
    )
    llm_format: _Format = Field(
        "json_schema", description="how JSON is asked for: json_schema, json_object or none (by words alone)"
    )
    llm_temperature: _Temperature = Field(0.0, description="temperature of the answers")
    llm_cache_file: File = Field(None, description="SQLite file that keeps answers between runs; made if not there")
    llm_cache_entries: Count = Field(10_000, description="answers kept, in that file or else in memory")
    llm_breaker_failures: Count = Field(5, description="failures in a row after which the endpoint is left alone")
    llm_breaker_pause_s: Seconds = Field(30.0, description="time until it is tried again, in seconds")

    @model_validator(mode="after")
    def _key_is_safe(self) -> Self:
        stays = _is_loopback(self.llm_url) and not self.llm_use_proxies
        plain = self.llm_url.lower().startswith("http://") and not stays
        if self.llm_api_key_file is not None and plain and not self.llm_allow_key_without_tls:
            allowing = f"{variable_of('llm_allow_key_without_tls')}=true to send the key unencrypted"
            wanted = f"https, because of {variable_of('llm_api_key_file')}, or {allowing}"
            raise ValueError(line_of("llm_url", wanted))
        return self

    @model_validator(mode="after")
    def _money_has_prices(self) -> Self:
        for name in ("llm_price_in", "llm_price_out"):
            if self.llm_max_money is not None and getattr(self, name) is None:
                raise ValueError(line_of(name, f"a price, because of {variable_of('llm_max_money')}"))
        return self


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
