"""The words of codes, by table, as words.txt has them."""

from memtui.base import word_lists

TABLES = word_lists.tables(__file__.removesuffix("py") + "txt")
