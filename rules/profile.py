"""The `seed` profile: spec 000 to the letter.

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

PROFILES: Final = (SEED,)
