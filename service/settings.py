"""Settings from the environment: one variable each, prefix TURNJUDGE_ (design section 12).

Here stands what several commands share; what one room needs besides stands in its own `settings`.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings, SettingsConfigDict

from rules.profile import PROFILE_NAMES
from service.decode import Caps
from service.errors import OperatorError

PREFIX: Final = "TURNJUDGE_"
FROM_ENVIRONMENT: Final = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid")
_BROKER: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:,\[\]/]+):([0-9]{1,5})")
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_GROUP: Final = re.compile(r"[A-Za-z0-9._-]{1,200}")  # it starts the name of a topic, whose limit is 249


@dataclass(frozen=True)
class Expected:
    """What a setting takes, in the words an operator reads when it was given something else."""

    words: str


def _brokers(value: str) -> str:
    found = [_BROKER.fullmatch(part.strip()) for part in value.split(",")]
    if not all(match and 0 < int(match[1]) < 65536 for match in found):
        raise ValueError
    return ",".join(match[0] for match in found if match)


def _matching(pattern: re.Pattern[str]) -> AfterValidator:
    def check(value: str) -> str:
        if not pattern.fullmatch(value) or value in (".", ".."):
            raise ValueError
        return value

    return AfterValidator(check)


def _address(value: str) -> str:
    value.encode("idna")  # what looks a name up would raise the same, and not as an error of the address
    return value


def _profile(value: str) -> str:
    if value not in PROFILE_NAMES:
        raise ValueError
    return value


_Brokers = Annotated[str, AfterValidator(_brokers), Expected("host:port, comma-separated")]
Topic = Annotated[str, _matching(_TOPIC), Expected("a topic name (letters, digits, '.', '_', '-'; at most 249)")]
_Group = Annotated[str, _matching(_GROUP), Expected("a group name (letters, digits, '.', '_', '-'; at most 200)")]
_Profile = Annotated[str, AfterValidator(_profile), Expected("one of " + ", ".join(PROFILE_NAMES))]
Address = Annotated[str, AfterValidator(_address), Expected("a host name or an address")]
_Text = Annotated[str | None, Expected("text")]
File = Annotated[Path | None, Expected("the path of a file")]
Switch = Annotated[bool, Expected("true or false")]
Count = Annotated[int, Field(ge=1, le=1_000_000), Expected("a whole number from 1 to 1000000")]
_Bytes = Annotated[int, Field(ge=1_024, le=16 * 1024 * 1024), Expected("a number of bytes from 1024 to 16777216")]
Port = Annotated[int, Field(ge=0, le=65_535), Expected("a port from 0 to 65535")]
Seconds = Annotated[
    float, Field(gt=0, le=86_400, allow_inf_nan=False), Expected("a number of seconds over 0, at most 86400")
]
Ttl = Annotated[int, Field(ge=1, le=3_650 * 86_400), Expected("a whole number of seconds from 1 to 315360000")]
_Protocol = Annotated[
    Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"],
    BeforeValidator(str.upper),
    Expected("one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
]
_Mechanism = Annotated[
    Annotated[Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"], BeforeValidator(str.upper)] | None,
    Expected("one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
]
LogLevel = Annotated[
    Literal["DEBUG", "INFO", "WARNING", "ERROR"],
    BeforeValidator(str.upper),
    Expected("one of DEBUG, INFO, WARNING, ERROR"),
]


_SASL: Final = ("sasl_mechanism", "sasl_username", "sasl_password_file")
_TLS: Final = ("ssl_ca_file", "ssl_cert_file", "ssl_key_file")


class TopicNames(NamedTuple):
    """The topics of design section 6 by the names this installation gives them."""

    chat_turns: str
    turn_verdicts: str
    turn_dead_letters: str
    turn_summaries: str
    topic_spikes: str
    character_cards: str
    topic_lexicon: str
    changelog: str


class Variable(NamedTuple):
    """An environment variable as `--help` names it; `default` is empty where there is none."""

    name: str
    default: str
    description: str


class JudgingSettings(BaseSettings):
    """What decides how a record is judged, on Kafka and in files alike."""

    model_config = FROM_ENVIRONMENT

    profile: _Profile = Field("seed", description="judging profile of a card that names none")
    profile_file: File = Field(None, description="words of your own for the extended profile, a TOML file")
    max_record_bytes: _Bytes = Field(256 * 1024, description="largest record that is judged, in bytes")
    max_names: Count = Field(256, description="most names a turn may list")

    @property
    def caps(self) -> Caps:
        """The caps as the decoders take them."""
        return Caps(self.max_record_bytes, self.max_names)


class KafkaSettings(JudgingSettings):
    """What every command needs that talks to Kafka."""

    brokers: _Brokers = Field("127.0.0.1:9092", description="brokers, host:port, comma-separated")
    group: _Group = Field("turnjudge", description="consumer group; also the changelog's prefix")
    security_protocol: _Protocol = Field("PLAINTEXT", description="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL")
    sasl_mechanism: _Mechanism = Field(None, description="PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
    sasl_username: _Text = Field(None, description="user name for SASL")
    sasl_password_file: File = Field(None, description="file that holds the password for SASL")
    ssl_ca_file: File = Field(None, description="certificates to trust (PEM); the system's if not set")
    ssl_cert_file: File = Field(None, description="our own certificate (PEM), if the brokers ask for one")
    ssl_key_file: File = Field(None, description="the key of our own certificate (PEM, without a password)")
    allow_plain_without_tls: Switch = Field(False, description="let SASL PLAIN send the password unencrypted")
    idempotent: Switch = Field(True, description="idempotent producers; off only for brokers that lack them")
    topic_chat_turns: Topic = Field("chat-turns", description="topic of the turns to judge")
    topic_turn_verdicts: Topic = Field("turn-verdicts", description="topic of the verdicts")
    topic_turn_dead_letters: Topic = Field("turn-dead-letters", description="topic of records that had no verdict")
    topic_turn_summaries: Topic = Field("turn-summaries", description="topic of the summaries")
    topic_topic_spikes: Topic = Field("topic-spikes", description="topic of spikes of forbidden topics")
    topic_character_cards: Topic = Field("character-cards", description="topic of the cards")
    topic_topic_lexicon: Topic = Field("topic-lexicon", description="topic of the lexicon")

    @property
    def topics(self) -> TopicNames:
        """The names of all topics, the changelog's included."""
        return TopicNames(
            self.topic_chat_turns,
            self.topic_turn_verdicts,
            self.topic_turn_dead_letters,
            self.topic_turn_summaries,
            self.topic_topic_spikes,
            self.topic_character_cards,
            self.topic_topic_lexicon,
            f"{self.group}-entities-changelog",
        )

    @model_validator(mode="after")
    def _security_fits(self) -> Self:
        protocol = self.security_protocol
        for names, kind, wanted in ((_SASL, "SASL_", "SASL_SSL"), (_TLS, "SSL", "SSL or SASL_SSL")):
            given = [name for name in names if getattr(self, name) is not None]
            if given and kind not in protocol:
                raise ValueError(line_of("security_protocol", f"{wanted}, because of {variable_of(given[0])}"))
        missing = [name for name in _SASL if "SASL_" in protocol and getattr(self, name) is None]
        if missing:
            raise ValueError(line_of(missing[0], f"a value, because of {variable_of('security_protocol')}"))
        if self.ssl_key_file is not None and self.ssl_cert_file is None:
            raise ValueError(line_of("ssl_cert_file", f"a file, because of {variable_of('ssl_key_file')}"))
        if (self.sasl_mechanism, protocol) == ("PLAIN", "SASL_PLAINTEXT") and not self.allow_plain_without_tls:
            allowing = f"{variable_of('allow_plain_without_tls')}=true to send the password unencrypted"
            raise ValueError(line_of("security_protocol", f"SASL_SSL for SASL PLAIN, or {allowing}"))
        return self

    @model_validator(mode="after")
    def _topics_differ(self) -> Self:
        for name in (name for name in KafkaSettings.model_fields if name.startswith("topic_")):
            if self.topics.count(getattr(self, name)) > 1:
                raise ValueError(line_of(name, "a name that no other topic has"))
        return self


S = TypeVar("S", bound=BaseSettings)


def load_settings(cls: type[S], **overrides: Any) -> S:
    """Read settings from the environment; `overrides` (fields by name, None for not given) win over it.

    Raises:
        OperatorError: a wrong value; the line names the first such variable and what was expected, never the value.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return cls(**given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=True, include_input=False)[0]
    if not first["loc"]:
        raise OperatorError(str(first["ctx"]["error"]))
    name = str(first["loc"][0])
    raise OperatorError(line_of(name, _expectation(cls.model_fields[name])))


def variables(cls: type[BaseSettings]) -> tuple[Variable, ...]:
    """List the environment variables of a class of settings, in the order of its fields."""
    return tuple(
        Variable(variable_of(name), _text(field.default), field.description or "")
        for name, field in cls.model_fields.items()
    )


def variable_of(name: str) -> str:
    """Return the environment variable of a field."""
    return PREFIX + name.upper()


def line_of(name: str, expected: str) -> str:
    """Return the operator's line about a field that holds something else than was expected."""
    return f"{variable_of(name)}: expected {expected}"


def _text(default: Any) -> str:
    if default is None or default is PydanticUndefined:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)


def _expectation(field: FieldInfo) -> str:
    return next(mark.words for mark in field.metadata if isinstance(mark, Expected))
