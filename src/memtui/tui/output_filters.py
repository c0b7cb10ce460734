"""Line filters for terminals that lack characters, and for people who want no colours."""

from collections.abc import Mapping
from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from memtui.present import glyphs


def needed(env: Mapping[str, str], setting: object, *, no_color: bool) -> list[LineFilter]:
    """Return the filters for a terminal. `setting` is the value of `glyphs` in the settings."""
    filters: list[LineFilter] = [Uncoloured()] if no_color else []
    if glyphs.plain(env, setting):
        filters.append(Ascii(whole=glyphs.only_ascii(env)))
    return filters


class Ascii(LineFilter):
    """ASCII in place of the characters that memtui and Textual draw with; with `whole`, in place of all others too."""

    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self.replace = _as_ascii if whole else lambda char: glyphs.PLAIN.get(char, char)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [Segment("".join(map(self.replace, text)), style, control) for text, style, control in segments]


@lru_cache(4096)
def _as_ascii(char: str) -> str:
    from unicodedata import normalize

    if char.isascii():
        return char
    bare = normalize("NFKD", char)[:1]
    width = cell_len(char)
    return glyphs.PLAIN.get(char) or (bare if bare.isascii() and width == 1 else "?" * width)


class Uncoloured(LineFilter):
    """Named colours (red, green …) replaced by the colour of text: Textual makes them gray, in which red is hard to
    read. Must run before Textual's own filters."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [Segment(text, _uncoloured(style), control) for text, style, control in segments]


@lru_cache(1024)
def _uncoloured(style: Style | None) -> Style | None:
    named = style is not None and style.color is not None and style.color.triplet is None
    return style + Style(color="default") if style is not None and named else style
