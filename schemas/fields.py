"""What the wire records share: how they are read, and types of fields."""

from typing import Annotated, Final

from pydantic import ConfigDict, Field

# Types are never coerced, and fields that nobody knows are passed over (design section 2).
WIRE: Final = ConfigDict(strict=True, frozen=True, extra="ignore")

# Blank is what str.isspace() says; written out so that every regex engine reads the same set.
NON_BLANK_PATTERN = r"[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"

NonBlank = Annotated[str, Field(pattern=NON_BLANK_PATTERN)]
