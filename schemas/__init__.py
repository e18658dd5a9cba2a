"""The records turnjudge reads and writes, and the closed lists of words they are made of."""
