"""The criteria oracle: holds an output against required words, banned words and a logical flow (spec 001)."""
