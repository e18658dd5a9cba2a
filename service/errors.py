"""The one error that is the operator's to put right."""


class OperatorError(Exception):
    """A wrong setting, an absent broker, a missing file: one line that names it and what was expected.

    The command line prints it to stderr and exits with 2 (design section 12); never a secret, never message text.
    """
