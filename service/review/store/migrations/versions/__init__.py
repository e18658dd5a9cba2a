"""One module a version of the schema; one that was released is not changed."""
