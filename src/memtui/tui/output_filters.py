"""What becomes of lines on their way to a terminal that lacks characters, or whose person wants no colours."""

from collections.abc import Mapping
from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from memtui.present import glyphs

DEFAULT = Style(color="default")


def needed(env: Mapping[str, str], setting: object, *, no_color: bool) -> list[LineFilter]:
    """The filters for a terminal. `setting` is that of `glyphs`."""
    found: list[LineFilter] = [Uncoloured()] if no_color else []
    if glyphs.plain(env, setting):
        found.append(Ascii(whole=glyphs.only_ascii(env)))
    return found


class Ascii(LineFilter):
    """ASCII in place of what memtui and textual draw with; with `whole`, also of what stands in files."""

    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self.stand_in = _replaced if whole else _drawn

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """As wide as before."""
        stand_in = self.stand_in
        return [
            each if each.text.isascii() else Segment("".join(map(stand_in, each.text)), each.style, each.control)
            for each in segments
        ]


def _drawn(char: str) -> str:
    return glyphs.PLAIN.get(char, char)


@lru_cache(4096)
def _replaced(char: str) -> str:
    from unicodedata import normalize

    if char.isascii():
        return char
    bare = normalize("NFKD", char)[:1]
    width = cell_len(char)
    return glyphs.PLAIN.get(char) or (bare if bare.isascii() and width == 1 else "?" * width)


class Uncoloured(LineFilter):
    """Words in red, green and the like in the colour of text: as gray, which textual makes of colours, red is hardly
    seen. Before textual's own filters."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The same words."""
        return [Segment(text, _uncoloured(style), control) for text, style, control in segments]


@lru_cache(1024)
def _uncoloured(style: Style | None) -> Style | None:
    named = style is not None and style.color is not None and style.color.triplet is None
    return style + DEFAULT if style is not None and named else style
