"""The page itself: its routes, what every request passes, and what each part shows."""
