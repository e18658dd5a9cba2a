"""What Alembic runs: the versions beside it, on the connection that `opening` gives, within its transaction."""

from alembic import context

from service.review.store.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
