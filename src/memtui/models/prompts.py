"""What models are asked to do, by feature, as prompts.txt has it."""

from memtui.base import word_lists

PROMPTS = word_lists.read(__file__.removesuffix("py") + "txt")
