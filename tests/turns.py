"""What takes its turn: the gate tries a share of the many cases of a kind, another share each time, in time all of them.

The turn of a run is a number below `TURNS`, new each time and the same in all processes of a run. `MEMTUI_TEST_TURN=7` repeats
one, and `MEMTUI_TEST_TURN=all` leaves nothing out.
"""

import functools
import os
import random
import zlib

TURNS = 24  # a share is one in 2, 3, 4, 6, 8, 12 or 24
SHARE = 8
NAME = "MEMTUI_TEST_TURN"


@functools.cache
def turn() -> "int | None":
    """The turn of this run; None where everything is tried."""
    told = os.environ.setdefault(NAME, str(random.randrange(TURNS)))
    return None if told == "all" else int(told)


def due(number: int, of: int = SHARE, family: str = "", runs: int = 1) -> bool:
    """Whether it is the turn of the case with this number, one in `of` of its family; the next one has it after so many
    runs."""
    now = turn()
    return now is None or (number + zlib.crc32(family.encode()) + now // runs) % of == 0


def share(cases, of: int = SHARE) -> list:
    """The cases whose turn it is."""
    return [case for number, case in enumerate(cases) if due(number, of)]
