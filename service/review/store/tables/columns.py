"""What the columns of all tables are made of."""

from typing import Final

from sqlalchemy import BigInteger, Integer, MetaData, Text

METADATA: Final = MetaData()
# Compared by code point in both databases.
TEXT: Final = Text().with_variant(Text(collation="C"), "postgresql")
ID: Final = BigInteger().with_variant(Integer, "sqlite")
