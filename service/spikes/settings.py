"""What the detector of spikes needs from the environment besides."""

from pydantic import Field

from service.settings import Address, KafkaSettings, LogLevel, Port


class SpikesSettings(KafkaSettings):
    """What `turnjudge spikes` is set up by."""

    spikes_http_host: Address = Field("127.0.0.1", description="address of the /metrics and /healthz of spikes")
    spikes_http_port: Port = Field(9467, description="their port; 0 takes a free one")
    log_level: LogLevel = Field("INFO", description="DEBUG, INFO, WARNING or ERROR")
