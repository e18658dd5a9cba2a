"""What the worker needs from the environment besides."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from service.settings import (
    Address,
    Count,
    Expected,
    KafkaSettings,
    LogLevel,
    Port,
    Seconds,
    Topic,
    Ttl,
    line_of,
    variable_of,
)

_Instance = Annotated[Topic | None, Expected("a name (letters, digits, '.', '_', '-'; at most 249)")]
_Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), Expected("a share over 0, at most 1")]


class WorkerSettings(KafkaSettings):
    """What `turnjudge worker` is set up by."""

    entity_ttl_s: Ttl = Field(30 * 86_400, description="how long a name is remembered, in seconds of record time")
    http_host: Address = Field("127.0.0.1", description="address of /metrics, /healthz and /readyz")
    http_port: Port = Field(9464, description="port of /metrics, /healthz and /readyz; 0 takes a free one")
    stop_deadline_s: Seconds = Field(25.0, description="longest time to drain after SIGTERM, in seconds")
    group_instance_id: _Instance = Field(
        None,
        description="name of this worker in the group that outlives a restart: its partitions wait for it as long as"
        " the session timeout, and nobody else's move; unique, and the same after every restart",
    )
    session_timeout_s: Seconds = Field(10.0, description="silence after which the group gives up a worker, in seconds")
    heartbeat_interval_s: Seconds = Field(3.0, description="time between heartbeats to the group, in seconds")
    rebalance_timeout_s: Seconds = Field(60.0, description="longest time the group waits to rebalance, in seconds")
    settle_timeout_s: Seconds = Field(10.0, description="grace for the running batch at a rebalance, in seconds")
    max_fault_run: Count = Field(20, description="turns that fail in a row by our own fault before the worker stops")
    max_fault_ratio: _Share = Field(
        0.1, description="share of the last 1000 turns that may fail by our own fault before the worker stops"
    )
    stall_timeout_s: Seconds = Field(
        300.0, description="time without progress, with lag left, before the worker ends itself, in seconds"
    )
    max_models: Count = Field(50, description="models that get a metric label of their own; the rest is 'other'")
    max_topics: Count = Field(200, description="forbidden topics that get a metric label; the rest is 'other'")
    log_level: LogLevel = Field("INFO", description="DEBUG, INFO, WARNING or ERROR")

    @model_validator(mode="after")
    def _times_fit(self) -> Self:
        if self.heartbeat_interval_s * 3 > self.session_timeout_s:
            raise ValueError(line_of("heartbeat_interval_s", f"at most a third of {variable_of('session_timeout_s')}"))
        if self.rebalance_timeout_s <= 2 * self.settle_timeout_s:
            raise ValueError(line_of("rebalance_timeout_s", f"more than twice {variable_of('settle_timeout_s')}"))
        if self.stall_timeout_s <= self.rebalance_timeout_s:
            raise ValueError(line_of("stall_timeout_s", f"more than {variable_of('rebalance_timeout_s')}"))
        return self
