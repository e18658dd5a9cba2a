"""The names of the profiles, and the `seed` profile: spec 000 to the letter.

Source: spec 000, automatic item 3 (four endings, three marks); design section 3 (full-width marks) and section 4
(honorific forms that the four endings lack).
"""

from typing import Final

from schemas.profile import Profile

SEED: Final = Profile(
    name="seed",
    marks=".?!．？！。",
    polite=("요", "죠", "니다", "십시오"),
    honorific=("십쇼", "네여"),
    honorific_after_bieup=("니까", "시다"),
)

EXTENDED_NAME: Final = "extended"

# Every profile this version knows, the default first; the tables of `extended` are data that service hands in.
PROFILE_NAMES: Final = (SEED.name, EXTENDED_NAME)
