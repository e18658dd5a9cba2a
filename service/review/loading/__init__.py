"""How rows come to be: the sample, files, and live topics."""
