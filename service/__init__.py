"""Everything that touches the world: Kafka, files, the command line, metrics."""
