"""The judge: pure functions from a turn, a card, a lexicon and earlier names to a verdict and its ten marks."""
