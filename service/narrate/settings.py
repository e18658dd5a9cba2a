"""What the narrator needs from the environment besides its model's endpoint."""

from typing import Annotated

from pydantic import Field

from service.settings import Address, Expected, KafkaSettings, LogLevel, Port, Seconds

_OwnPort = Annotated[Port | None, Expected("a port from 0 to 65535")]


class NarratorSettings(KafkaSettings):
    """What `turnjudge narrate` is set up by."""

    narrator_http_host: Address = Field("127.0.0.1", description="address of the narrator's /metrics and /healthz")
    narrator_http_port: _OwnPort = Field(None, description="their port; 0 takes a free one, none opens none")
    stop_deadline_s: Seconds = Field(25.0, description="longest time to drain after SIGTERM, in seconds")
    log_level: LogLevel = Field("INFO", description="DEBUG, INFO, WARNING or ERROR")
