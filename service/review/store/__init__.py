"""What the page keeps: one table of verdicts with their history, and how it is written, listed and searched."""
