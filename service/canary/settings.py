"""What the canary needs from the environment besides."""

from pydantic import Field

from service.settings import Address, KafkaSettings, LogLevel, Port, Seconds


class CanarySettings(KafkaSettings):
    """What `turnjudge canary` is set up by."""

    canary_interval_s: Seconds = Field(60.0, description="time between two canary turns, in seconds")
    canary_deadline_s: Seconds = Field(
        60.0, description="time within which the verdict of a canary turn counts as come back, in seconds"
    )
    canary_http_host: Address = Field("127.0.0.1", description="address of the canary's /metrics and /healthz")
    canary_http_port: Port = Field(9466, description="their port; 0 takes a free one")
    log_level: LogLevel = Field("INFO", description="DEBUG, INFO, WARNING or ERROR")
