"""What says something alike is ranked; what only shares a word is not."""

from memtui.store import memory
from memtui.tidy import similarity


def made(name, description, body="", path="/x"):
    data = memory.new_memory_bytes(name, description, "feedback", body or description)
    return memory.from_bytes(f"{path}/{name}.md", "project", data)


PNPM = made("prefer-pnpm", "Use pnpm in this repository, never npm")
SHORT = made("concise-answers", "Answer in a few sentences, code first")
OTHER = made("release-steps", "A release is a tag on main; CI does the rest")


def test_the_same_name_comes_first():
    found = similarity.to_draft("prefer-pnpm", "A frozen lock file in CI", [OTHER, SHORT, PNPM])
    assert found[0].memory is PNPM
    assert found[0].score >= similarity.SAME_NAME


def test_other_words_for_the_same_are_found_and_unlike_ones_are_not():
    assert [each.memory for each in similarity.to_draft("use-pnpm", "Use pnpm, not npm", [OTHER, SHORT, PNPM])] == [
        PNPM
    ]
    found = similarity.to_draft("short-answers", "Keep answers short, code first", [PNPM, SHORT])
    assert [each.memory for each in found] == [SHORT]
    assert similarity.to_draft("alt-texts", "Every image gets an alt text", [PNPM, SHORT, OTHER]) == []


def test_few_differing_words_are_marked_as_runs_and_many_not_at_all():
    def runs(one, other):
        spans = similarity.differing(one, other)
        return [[text[start:end] for start, end in found] for text, found in zip((one, other), spans, strict=True)]

    one = "use the frozen lock file in CI for every install"
    assert runs(one, "use the old yarn lock file in CI for every install") == [["frozen"], ["old yarn"]]
    assert runs(one, "answer in a few sentences") == [[], []]
    assert runs("use pnpm", "use pnpm whenever something is built at all") == [[], []]
    assert runs(one, one.upper()) == [[], []]


def test_a_broken_memory_can_not_be_merged_into():
    broken = memory.from_bytes("/x/prefer-pnpm.md", "project", b"---\nname: 'x\n---\nx")
    assert broken.broken
    assert similarity.to_draft("prefer-pnpm", "Use pnpm", [broken]) == []
