"""The texts of the TUI that are longer than a line, and its tables of words, as texts.txt has them."""

from memtui.base import word_lists

_PATH = __file__.removesuffix("py") + "txt"
TABLES = word_lists.tables(_PATH)
TEXTS = {name: lines.replace("\n  ", " ") for name, lines in word_lists.read(_PATH).items()}
