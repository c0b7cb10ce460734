"""The titles of what a delivery brought: of a note, a draft or an item its first words, as its text has them."""

import re
from collections.abc import Iterable
from typing import Protocol

from memtui.core.base import visible
from memtui.core.deliveries.blocks import TAGS, units

# Characters of a title.
LONGEST = 120
# What stands before the words of a draft or an item in a list: signs of a change, a bullet, and in brackets the kind of
# the draft or the box of the item. And what stands after those of an item: where it comes from.
BEFORE = re.compile(r"(?:[+-] )*(?:- )?(?:\[[^\]\n]*\] )?")
AFTER = re.compile(r" \((?:session [^()\n]*|hand-written|approved, rejected or withdrawn since)\)$")
SCOPE = re.compile(r' scope="([^"]*)"')


class Brought(Protocol):
    """An item of a delivery, as far as its title needs it."""

    @property
    def kind(self) -> str:
        """`guidance`, `pending-update`, …"""

    @property
    def id(self) -> str:
        """Its id; of a memory its name."""

    @property
    def scope(self) -> str:
        """The scope that it comes from."""

    @property
    def chars(self) -> int | None:
        """The length of its text in the delivery."""


def guidance(text: str, note_id: str) -> tuple[str, str]:
    """Return the attributes and the text of a note in a delivered text; both empty if it is not there."""
    tag = TAGS["guidance"]
    head, _, rest = text.partition(f'<{tag} id="{visible.attribute(note_id)}"')[2].partition(">\n")
    return head, rest.partition(f"\n</{tag}>")[0].partition("\n")[2]  # the first line names the sender


def titles(text: str, items: Iterable[Brought]) -> list[str]:
    """Return the title of each item that a delivered text brought, in their order: of a memory its name; empty where
    the text does not show it. `items`: without those left out."""
    lists = _Lists(text)
    found = []
    for item in items:
        if item.kind == "guidance":
            words = guidance(text, item.id)[1]
        elif item.kind in _Lists.KINDS:
            words = lists.take(item)
        else:
            words = item.id
        found.append(_first_line(words))
    return found


def _first_line(words: str) -> str:
    line = visible.one_line(words.lstrip().partition("\n")[0])
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"


def _characters(text: str, size: int) -> int:
    """Return how many characters at the beginning of a text are so many UTF-16 code units."""
    count = size
    while (over := units(text[:count]) - size) > 0:
        count -= (over + 1) // 2
    return count


class _Lists:
    """The lists in a delivered text, from which the parts are taken in their order."""

    KINDS = ("pending-update", "pending-item")

    def __init__(self, text: str) -> None:
        self.text = text
        self._rest: dict[tuple[str, str], str] = {}
        self._read = False

    def take(self, item: Brought) -> str:
        """Return the words of the next part of an item's list."""
        if not self._read:
            self._read = True
            for kind in self.KINDS:
                self._find(kind)
        rest = self._rest.get((item.kind, item.scope), "")
        size = _characters(rest, item.chars or 0)
        part, self._rest[item.kind, item.scope] = rest[:size], rest[size + 1 :]
        lines = part.split("\n")
        first = next((line for line in lines if line.startswith("+ ")), lines[0])
        return AFTER.sub("", BEFORE.sub("", first, count=1))

    def _find(self, kind: str) -> None:
        tag = TAGS[kind]
        for block in self.text.split(f"<{tag} ")[1:]:
            head, _, rest = block.partition(">\n")
            scope = SCOPE.search(" " + head)
            content = rest.partition(f"</{tag}>")[0].partition("\n")[2]  # the first line says what the list is
            self._rest[kind, scope[1] if scope else ""] = content
