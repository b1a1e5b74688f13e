"""Latin squares balanced for carry-over: every treatment follows every other equally often.

Williams, E. J. (1949). Experimental designs balanced for the estimation of residual effects of
treatments. Australian Journal of Scientific Research, Series A, 2, 149–168.
"""

from __future__ import annotations

from empathylab.errors import InputError

Square = tuple[tuple[int, ...], ...]


def williams_squares(treatments: int) -> tuple[Square, ...]:
    """One square for an even number of treatments, two for an odd; rows are raters, columns turns.

    Each square is Latin: a treatment stands once in every row and once in every column. Over the
    squares given, each treatment is directly followed by each other equally often: once where
    their number is even, twice where it is odd. An odd number needs both squares for that; the
    second is the first with each row read backwards.
    """
    if treatments < 1:
        raise InputError(
            "a Latin square needs a treatment", got=treatments, remedy="Give 1 or more."
        )
    first = _zigzag(treatments)
    square = tuple(
        tuple((item + shift) % treatments for item in first) for shift in range(treatments)
    )
    if treatments % 2 == 0 or treatments == 1:
        return (square,)
    return (square, tuple(row[::-1] for row in square))


def _zigzag(treatments: int) -> list[int]:
    """0, 1, n − 1, 2, n − 2 …: all differences between neighbours occur."""
    return [
        (step + 1) // 2 if step % 2 else (treatments - step // 2) % treatments
        for step in range(treatments)
    ]
