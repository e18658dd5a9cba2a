"""What reviews come to: cards with names added, a profile file with endings added, what would flip, and publishing."""
