"""The `extended` profile: readings that agree with Korean readers, from tables that service hands in (issue 5)."""
