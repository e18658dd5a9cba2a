"""The schema, version by version; a page applies them at its start."""
