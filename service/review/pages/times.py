"""Times and days as they are read here: in the page's time zone, a day as YYYY-MM-DD or as days since 1970-01-01."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from service.review.store.days import DAY_MS

_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_DAY: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MINUTE_MS: Final = 60_000


class Zone(NamedTuple):
    """A time zone, by its minutes before UTC."""

    minutes: int

    def time(self, at_ms: int | None) -> str | None:
        """Return a time as it is read here, to the second."""
        if at_ms is None:
            return None
        try:
            here = datetime.fromtimestamp(at_ms / 1000, UTC) + timedelta(minutes=self.minutes)
            return here.replace(tzinfo=None).isoformat(" ", "seconds")
        except (OverflowError, ValueError, OSError):
            return str(at_ms)

    def day(self, at_ms: int | None) -> str:
        """Return the day of a time, or nothing."""
        return (self.time(at_ms) or "")[:10]

    def today(self, now_ms: int) -> int:
        """Return the day of a time as a number."""
        return (now_ms + self.minutes * _MINUTE_MS) // DAY_MS

    def begins_ms(self, day: int) -> int:
        """Return when a day begins here."""
        return day * DAY_MS - self.minutes * _MINUTE_MS


def day_of(text: str) -> int | None:
    """Return a day (YYYY-MM-DD) as days since 1970-01-01, None where it is none."""
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH_DAY if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def written(day: int) -> str:
    """Return a day as it is read."""
    ordinal = min(max(day + _EPOCH_DAY, 1), date.max.toordinal())
    return date.fromordinal(ordinal).isoformat()
