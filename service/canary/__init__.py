"""The canary: turns of a reserved character, sent for what is known to be their verdict (issue 9, item 3)."""
