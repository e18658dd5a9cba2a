"""One check a file; none knows another. `rules.catalogue` puts them in order."""
