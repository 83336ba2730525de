"""Numbers and names as a reader wants them, in tables, sentences and figures."""

from __future__ import annotations

from math import floor, isfinite, log10


def number(value: float) -> str:
    """Thousands apart, four digits or so.

    >>> [number(v) for v in (0.01234, 3.14159, 42.0, 1234.5, 2.5e9)]
    ['0.0123', '3.14', '42', '1,234', '2.5·10⁹']
    """
    if not isfinite(value):
        return "–"
    size = abs(value)
    if size >= 1e7:
        exponent = floor(log10(size))
        return f"{value / 10**exponent:.3g}·{power(exponent)}"
    return f"{value:,.0f}" if size >= 100 else f"{value:.3g}"


def spread(mean: float, half: float) -> str:
    """A mean and half of its interval, to two digits; what rounding leaves of an interval is 0.

    >>> spread(104.0, 31.5), spread(180.0, 8.5e-14), spread(3.14159, 0.0521)
    ('104 ± 32', '180 ± 0', '3.14 ± 0.052')
    """
    return f"{number(mean)} ± {half_width(mean, half)}"


def half_width(mean: float, half: float) -> str:
    """Half of the interval of a mean, as `spread` shows it."""
    if half <= 1e-12 * abs(mean):
        return "0"
    return f"{half:.2g}" if half < 9.95 else number(round(half))


def power(exponent: int) -> str:
    """Ten to the `exponent` in plain characters.

    >>> power(-3)
    '10⁻³'
    """
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "arm"), counted(2000, "policy")
    ('1 arm', '2,000 policies')
    """
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def listed(names: list[str]) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def short(name: str, most: int = 26) -> str:
    """A name cut to fit a figure.

    >>> short("a" * 30, 5)
    'aaaa…'
    """
    return name if len(name) <= most else name[: most - 1] + "…"
