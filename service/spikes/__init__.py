"""Spikes of forbidden topics in the stream: verdicts in, spikes opened and closed out."""
