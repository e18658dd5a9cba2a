"""Errors that whoever runs turnjudge can mend."""


class OperatorError(Exception):
    """A wrong setting, a missing file, a broker that refuses: the message is one line, printed to stderr; exit 2."""
