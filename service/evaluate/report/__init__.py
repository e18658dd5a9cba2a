"""One neutral report, and the forms it is written in."""
