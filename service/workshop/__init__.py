"""The workshop: what creators shape lexicons and cards with, and what measures the profiles."""
