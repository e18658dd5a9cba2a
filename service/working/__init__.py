"""How a verdict came about, for people: the working of one turn, its JSON shape, and its words."""
