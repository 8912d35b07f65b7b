"""Numbers and times as people read them, the same as in the pages and in the whole command line."""

from __future__ import annotations

import math
import time
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY
_DIGITS = 4
#: From here on a number is written with an exponent: its last digits are not exact any more.
_LARGE = 1e15
_SMALL = 1e-4
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def to_float(value: Any) -> float:
    """A number of a JSON answer, where NaN and infinities are texts."""
    return float(str(value).replace("Infinity", "inf")) if isinstance(value, str) else float(value)


def format_number(value: float) -> str:
    """0.01235, 1.5, 12,346, 1.235e-7. Integers in full."""
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    size = abs(value)
    if value.is_integer() and size < _LARGE:
        return f"{int(value):,}"
    if size < _SMALL or size >= _LARGE:
        mantissa, exponent = _round(Decimal(value), _exponent(Decimal(value)) - _DIGITS + 1)
        return f"{_without_zeros(f'{mantissa:f}')}e{exponent}"
    if size < 1:
        rounded = Decimal(value).quantize(Decimal(1).scaleb(_exponent(Decimal(value)) - _DIGITS + 1), ROUND_HALF_UP)
        return _without_zeros(f"{rounded:f}")
    decimals = max(0, _DIGITS - len(str(math.floor(size))))
    # The shortest text of the number is rounded, as JavaScript does it here.
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return _without_zeros(f"{rounded:,f}")


def _exponent(value: Decimal) -> int:
    return value.adjusted()


def _round(value: Decimal, place: int) -> tuple[Decimal, int]:
    """The mantissa with as many digits as wanted, and the exponent."""
    rounded = value.quantize(Decimal(1).scaleb(place), ROUND_HALF_UP) if place > -300 else value
    exponent = rounded.adjusted()
    mantissa = rounded.scaleb(-exponent).quantize(Decimal(1).scaleb(1 - _DIGITS), ROUND_HALF_UP)
    return mantissa, exponent


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def count_of(count: int, one: str, many: str = "") -> str:
    """ "1 run", "2 runs"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def format_bytes(size: float) -> str:
    """Such as "81.9 KiB": three digits are enough to judge a size."""
    unit = 0
    size = float(size)
    # What would be rounded to 1024 belongs to the next unit.
    while abs(size) >= 1023.5 and unit < len(_BYTE_UNITS) - 1:
        size /= 1024
        unit += 1
    decimals = 0 if unit == 0 or abs(size) >= 99.95 else 1
    rounded = Decimal(size).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{rounded:f} {_BYTE_UNITS[unit]}"


def format_duration(seconds: float) -> str:
    """The two largest units, such as "3h 12m", "42s", "2d 4h"; below ten seconds with tenths."""
    if not math.isfinite(seconds) or seconds < 0:
        return "?"
    if seconds < 1:
        return f"{math.floor(seconds * 1000 + 0.5)}ms"
    if seconds < 9.95:
        return f"{Decimal(seconds).quantize(Decimal('0.1'), ROUND_HALF_UP)}s"
    whole = math.floor(seconds + 0.5)
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return _two(whole, _MINUTE, "m", 1, "s")
    if whole < _DAY:
        return _two(whole, _HOUR, "h", _MINUTE, "m")
    if whole < _YEAR:
        return _two(whole, _DAY, "d", _HOUR, "h")
    return _two(whole, _YEAR, "y", _DAY, "d")


def _two(whole: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = whole % large // small
    first = f"{whole // large}{large_name}"
    return f"{first} {rest}{small_name}" if rest else first


def format_age(seconds: float) -> str:
    """One unit, such as "5m", "3h", "2y": where there is little room."""
    if seconds < _MINUTE:
        return f"{max(0, math.floor(seconds))}s"
    for unit, size, above in (("m", _MINUTE, _HOUR), ("h", _HOUR, _DAY), ("d", _DAY, _YEAR)):
        if seconds < above:
            return f"{math.floor(seconds / size)}{unit}"
    return f"{math.floor(seconds / _YEAR)}y"


def format_ago(time_us: Any, now_s: float | None = None) -> str:
    """Time in microseconds, as "5m ago", "in 12d", or "never" for 0, which in the API means no time."""
    us = int(time_us or 0)
    if us == 0:
        return "never"
    seconds = (time.time() if now_s is None else now_s) - us / 1e6
    size = abs(seconds)
    # Clocks differ a little; "in 0s" would be confusing.
    if size < 2:
        return "now"
    # Three days from now, asked a moment later, are still three.
    return f"{format_age(size)} ago" if seconds > 0 else f"in {format_age(size + size / 100)}"


def format_time(time_us: Any) -> str:
    """Local time to the second, as "2026-11-15 14:03:22"; empty for 0."""
    us = int(time_us or 0)
    return datetime.fromtimestamp(us // 1_000_000).strftime("%Y-%m-%d %H:%M:%S") if us else ""


def iso_time(time_us: Any) -> str | None:
    """For programs: ISO 8601 in UTC; None for 0."""
    us = int(time_us or 0)
    if not us:
        return None
    return datetime.fromtimestamp(us // 1_000_000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + (
        f".{us // 1000 % 1000:03d}Z"
    )


def enum_word(name: Any, prefix: str) -> str:
    """RUN_STATUS_RUNNING is "running"."""
    text = str(name or f"{prefix}UNSPECIFIED")
    return (text[len(prefix) :] if text.startswith(prefix) else text).lower().replace("_", " ")
