"""Split a memory that has become too large by its headings, and a MEMORY.md that has text of its own: one memory for
each section, and every statement in one of them."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from memtui.consolidate import coverage
from memtui.consolidate.changeset import FileOutput, Kind, Proposal, ProposalEvidence, propose, read_from
from memtui.consolidate.chunks import Chunk, chunks, join
from memtui.core.base.errors import MemtuiError
from memtui.core.frontmatter import document, prose
from memtui.core.memories import index_lines, memory
from memtui.core.memories.index_text import Passage
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope

# The most parts that a memory is split into, and the most characters of a part's description.
MOST, DESCRIPTION = 12, 120
# Words of the name of a memory that is made of a text without one.
NAME_WORDS = 6
# The type of a memory that is made of a text without one, as of instructions that are imported.
TYPE = "feedback"
# Headings of these words alone name parts of one thing, which stay together: a report, a decision, a log.
PARTS_OF_ONE = frozenset(
    re.findall(
        r"\S+",
        "abstract action actions alternative alternatives analysis and apply argument background conclusion "
        "conclusions consequences context counter decision deliberation description details discussion "
        "evidence example examples execution executive final finding findings for how impact implementation "
        "introduction issue key learned learnings lesson lessons methodology metrics motivation next note "
        "notes of option options outcome outcomes overview part problem problems purpose question questions "
        "rationale reason recommendation recommendations reference references related result results root "
        "cause see also solution solutions state status step steps success summary symptom symptoms the "
        "thought to todo what when why",
    )
)
WORD = re.compile(r"[^\W\d_]{3,}")


class Section(NamedTuple):
    """A part of a body: its heading, and the text below it."""

    heading: str
    text: str


def sections(body: str) -> tuple[str, list[Section]]:
    """Return the text before the first section of a body, and its sections: those of the highest level of headings that
    occurs more than once. The text is the whole body if there are none."""
    found = chunks(body)
    levels = [_level(each) for each in found if each.kind == "heading"]
    level = next((each for each in sorted(set(levels)) if levels.count(each) > 1), None)
    starts = [at for at, each in enumerate(found) if each.kind == "heading" and _level(each) == level]
    if level is None or any(each < level for each in levels[levels.index(level) :]):
        return body, []
    parts = [
        Section(found[start].plain, join(found[start + 1 : end]).strip("\n"))
        for start, end in zip(starts, [*starts[1:], len(found)], strict=True)
    ]
    return join(found[: starts[0]]).strip("\n"), parts


def _level(heading: Chunk) -> int:
    text = heading.text.lstrip()
    return len(text) - len(text.lstrip("#"))


def proposal(
    found: Memory, taken: Collection[str], most_bytes: int, evidence: Sequence[ProposalEvidence] = (), reason: str = ""
) -> Proposal | None:
    """Propose to split a memory by its sections. None if these are not about several things (`PARTS_OF_ONE`), if there
    are too many, if one has more than `most_bytes`, or if a statement would be lost.

    The file keeps what is before the first section, and links to the parts. `taken` are names that no part may have.
    """
    intro, parts = sections(found.body)
    sizes = [len(each.encode()) for each in (intro, *(part.text for part in parts))]
    if (
        not 2 <= len(parts) <= MOST
        or not all(_has_subject(part.heading) for part in parts)
        or max(sizes) > most_bytes
        or any(not part.text.strip() for part in parts)
    ):
        return None
    names = _names(found, parts, taken)
    directory = found.path.rpartition("/")[0]
    links = "".join(f"- [[{name}]]: {part.heading}\n" for name, part in zip(names, parts, strict=True))
    try:
        kept = document.parse(found.raw).with_body("\n" + (intro + "\n\n" if intro else "") + links).raw
    except MemtuiError:
        return None
    outputs = [FileOutput(found.path, kept)]
    for name, part in zip(names, parts, strict=True):
        data = memory.new_memory_bytes(name, _description(part), found.type, part.text)
        outputs.append(FileOutput(f"{directory}/{name}.md", data))
    made = propose("split", [read_from(found.path, found.raw)], outputs, evidence, reason)
    covered = coverage.of_proposal(made)
    return made if covered is not None and not covered.dropped and covered.is_verbatim else None


def of_index(
    scope: Scope,
    data: bytes,
    passages: Sequence[Passage],
    memories: Sequence[Memory],
    evidence: Sequence[ProposalEvidence] = (),
    reason: str = "",
) -> Proposal | None:
    """Propose to make a memory of each passage of a MEMORY.md, but for those that a memory of its scope says already,
    and to take them out of it. None if a statement would be lost."""
    statements = [each for found in memories for each in coverage.of_file(found.path, found.raw)]
    taken = {found.stem for found in memories}
    outputs: dict[str, FileOutput] = {}
    for each in passages:
        if each.text in outputs or coverage.cover(coverage.of_text("", each.text), statements).is_verbatim:
            continue
        words = (each.title or prose.first_sentence(each.text, DESCRIPTION)).split()
        name = _free(memory.slugify(" ".join(words[:NAME_WORDS])), taken)
        taken.add(name)
        content = memory.new_memory_bytes(name, each.described(DESCRIPTION), TYPE, each.whole)
        outputs[each.text] = FileOutput(f"{scope.directory}/{name}.md", content)
    after = index_lines.remove_text(data, [number for each in passages for number in each.lines])
    written = [FileOutput(scope.index_path, after), *outputs.values()]
    kind: Kind = "split" if outputs else "relink"
    made_of = propose(kind, [read_from(scope.index_path, data)], written, evidence, reason)
    covered = coverage.of_proposal(made_of)
    return made_of if covered is None or not [each for each in covered.lost if not _said(each, statements)] else None


def _said(lost: coverage.Covered, known: Sequence[coverage.Statement]) -> bool:
    return coverage.cover([lost.statement], known).is_verbatim


def _free(stem: str, taken: Collection[str]) -> str:
    """Return the name that no other memory has: with a number, if it must."""
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}-{number}", number + 1
    return name


def _has_subject(heading: str) -> bool:
    """Return whether a heading says what its section is about. One with a time in it is an entry of a log."""
    return sum(map(str.isdigit, heading)) < 4 and bool(set(WORD.findall(heading.casefold())) - PARTS_OF_ONE)


def _names(found: Memory, parts: Sequence[Section], taken: Collection[str]) -> list[str]:
    names: list[str] = []
    for part in parts:
        names.append(_free(memory.slugify(f"{found.stem} {part.heading}"), {*taken, *names}))
    return names


def _description(part: Section) -> str:
    """Return the heading of a part, with its first sentence if there is room for it."""
    statements = coverage.of_text("", part.text)
    first = next((each.text for each in statements if each.kind in {"sentence", "item"}), "")
    whole = f"{part.heading}: {first}" if first else part.heading
    return whole if len(whole) <= DESCRIPTION else part.heading
