"""The demo's own broker and sample chat: for trying turnjudge where there is no Kafka yet."""
