"""The criteria oracle over files: datasets, outputs and results of earlier runs in, a report out (spec 001)."""
