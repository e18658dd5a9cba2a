"""The page: verdicts a creator reads, checks and acts on."""
