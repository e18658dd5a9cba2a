"""The worker on Kafka: its topics, the batch loop, the state it keeps and the reference data it follows."""
