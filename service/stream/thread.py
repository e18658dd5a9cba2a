"""The thread that speaks to the broker: Faust's, with a consumer that answers soon and gives back what it took."""

from collections.abc import Mapping
from typing import Final

import aiokafka
from aiokafka.structs import TopicPartition
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from service.logs import ENGINE

_FETCH_WAIT_MS: Final = 250


class ConsumerThread(driver.AIOKafkaConsumerThread):
    """The thread that speaks to the broker."""

    logger = ENGINE

    def _create_worker_consumer(self, transport: driver.Transport) -> aiokafka.AIOKafkaConsumer:
        """Create aiokafka's consumer; Faust's own waits 1.5 s in a fetch, so a new assignment would wait as long.

        It also reads what a producer's transaction aborted, which nobody has said.
        """
        conf = self.app.conf
        return aiokafka.AIOKafkaConsumer(
            client_id=conf.broker_client_id,
            group_id=conf.id,
            group_instance_id=conf.consumer_group_instance_id,
            bootstrap_servers=driver.server_list(transport.url, transport.default_port),
            partition_assignment_strategy=[self.app.assignor],
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            max_poll_records=None,
            max_poll_interval_ms=int(conf.broker_max_poll_interval * 1000),
            max_partition_fetch_bytes=conf.consumer_max_fetch_size,
            fetch_max_wait_ms=_FETCH_WAIT_MS,
            request_timeout_ms=int(conf.broker_request_timeout * 1000),
            session_timeout_ms=int(conf.broker_session_timeout * 1000),
            rebalance_timeout_ms=int(conf.broker_rebalance_timeout * 1000),
            heartbeat_interval_ms=int(conf.broker_heartbeat_interval * 1000),
            **driver.credentials_to_aiokafka_auth(conf.broker_credentials, conf.ssl_context),
        )

    async def give_back(self, taken: Mapping[TP, tuple[int, int]]) -> None:
        """Seek back to the first record of fetches that were taken and not judged, if nobody went back further since.

        Behind the last record the position may have passed marks of a transaction, too. Faust's `perform_seek` does not
        rewind a partition of which nothing was committed yet.
        """
        consumer = self._ensure_consumer()
        for tp, (first, behind) in taken.items():
            if tp in self.assignment() and await consumer.position(TopicPartition(*tp)) >= behind:
                consumer.seek(TopicPartition(*tp), first)
