"""Words for proposals in both user interfaces: what a proposal does and drops, why it can't be made, what is saved."""

from collections.abc import Sequence

from memtui.base import findings
from memtui.base.finding import NOTE, Finding
from memtui.base.phrasing import many, size, some
from memtui.store.plan import FileDiff
from memtui.tidy.changeset import ADDED, Proposal, ProposalEvidence, name, title
from memtui.tidy.composed_files import DONE, Reason, Refused, Savings
from memtui.tidy.coverage import Coverage

# What each kind of proposal does.
MEANINGS = {
    "merge": "makes one memory of several",
    "rewrite": "changes the text of a memory",
    "archive": "moves a memory to .archive, where no session gets it",
    "delete": "removes a memory",
    "relink": "changes links, or lines of MEMORY.md",
}
# Names in a list's row before the rest is counted.
NAMED = 3
REFUSED: dict[Reason, str] = {
    "made": "made already",
    "stale": "out of date",
    "overlap": "overlaps another change",
    "untrusted": "not trusted",
    "forbidden": "not allowed",
}


def about(proposal: Proposal) -> str:
    """Return the memories that a proposal is about: `prefer-pnpm + pnpm-only` for a merge, the one that stays first."""
    removed, outputs = [name(path) for path in proposal.gone], [name(path.path) for path in proposal.written]
    stems = {"archive": removed, "merge": [*outputs, *removed]}.get(proposal.kind, outputs or removed)
    names = list(dict.fromkeys(stems))
    join = " + " if proposal.kind == "merge" else ", "
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return join.join([*names[:NAMED], *more])


def gist(proposal: Proposal) -> str:
    """Return the sentence of the inbox for a proposal: what is merged, else why; of several problems the first."""
    if proposal.kind == "merge":
        return about(proposal)
    what = title(proposal)
    sentence = next(iter(reasons(proposal)), f"{what[:1].upper()}{what[1:]}")
    first, _, others = sentence.partition(". MEMORY.md of ")
    return f"{first} ({many(len(proposal.evidence) - 1, 'more problem')})." if others else sentence


def scope_of(proposal: Proposal) -> str:
    """Return the label of the scope that a proposal is about; empty if its evidence names none."""
    return next((str(evidence.data["scope"]) for evidence in proposal.evidence if "scope" in evidence.data), "")


def without_scope(sentence: str, label: str, place: str) -> str:
    """Return a sentence without the label of its scope, whose name `place` begins one about its MEMORY.md."""
    if not label:
        return sentence
    words = sentence.removeprefix(f"{label}:").replace(f" of {label} ", " ")
    if sentence.startswith(f"MEMORY.md of {label} "):
        return f"{place or label}: {words}"
    return f"{place or label} has {words.removeprefix(f'{label} has ')}" if words.startswith(f"{label} has ") else words


def reasons(proposal: Proposal) -> list[str]:
    """Return why a proposal is made, in sentences: its reason, or else what its evidence says."""
    if proposal.reason:
        return [proposal.reason]
    return list(dict.fromkeys(sentence for evidence in proposal.evidence if (sentence := _sentence(evidence))))


def _sentence(evidence: ProposalEvidence) -> str:
    try:
        return findings.message(Finding(evidence.code, NOTE, "", evidence.data))
    except (KeyError, ValueError, IndexError):  # of another version, or written by hand
        return " … ".join(evidence.texts)


def dropped(coverage: Coverage) -> list[str]:
    """List the statements that a proposal drops, each with the memory that has it."""
    return [f"“{cover.statement.text}” ({name(cover.statement.path)})" for cover in coverage.lost]


def added(proposal: Proposal) -> list[str]:
    """List what a model wrote that no memory says, as far as words tell; nothing of what a person edited since."""
    return [text for evidence in proposal.evidence if evidence.code == ADDED for text in evidence.texts]


def fields(coverage: Coverage) -> list[str]:
    """Say of each field of which a proposal drops values what stays: `keeps “type: project”, not “user” (flaky)`."""
    statements = [statement.statement for statement in coverage.dropped if statement.statement.kind == "field"]
    sentences = []
    for key in dict.fromkeys(statement.text.partition(": ")[0] for statement in statements):
        texts_kept = [f"“{statement.text}”" for statement in coverage.fields if statement.text.startswith(f"{key}: ")]
        lost = [statement for statement in statements if statement.text.startswith(f"{key}: ")]
        if texts_kept:
            values = [f"“{statement.text.partition(': ')[2]}” ({name(statement.path)})" for statement in lost]
            sentences.append(f"keeps {', '.join(texts_kept)}, not {', '.join(values)}")
        else:
            sentences += [f"drops “{statement.text}” ({name(statement.path)})" for statement in lost]
    return sentences


def lost(coverages: Sequence[Coverage]) -> str:
    """Say what several proposals dropped: `Dropped: 2 statements; values of the fields type, owner.`, or nothing."""
    statements = sum(len(coverage.lost) for coverage in coverages)
    covered = [cover for coverage in coverages for cover in coverage.dropped]
    sentences = [cover.statement for cover in covered if cover.statement.kind == "field"]
    keys = dict.fromkeys(statement.text.partition(": ")[0] for statement in sentences)
    parts = [many(statements, "statement")] if statements else []
    if keys:
        parts.append(
            f"{many(len(sentences), 'value')} of {'the field' if len(keys) == 1 else 'the fields'} {some(list(keys))}"
        )
    return f"Dropped: {', and '.join(parts)}." if parts else ""


def reworded(coverage: Coverage) -> list[str]:
    """List the statements that a proposal says in other words, each with the sentence that says it."""
    return [
        f"“{cover.statement.text}” ({name(cover.statement.path)}) as “{cover.targets[0].text}”"
        for cover in coverage.of("reworded")
    ]


def covered(coverage: Coverage) -> str:
    """Say what is lost and what stays: `Nothing is lost: 5 statements stay word for word.`"""
    dropped, count_kept, reworded = len(coverage.lost), coverage.count("kept"), coverage.count("reworded")
    sentences = [f"{many(dropped, 'statement is', 'statements are')} dropped"] if dropped else []
    if reworded:
        sentences.append(f"{many(reworded, 'statement is', 'statements are')} in other words")
    if sentences:
        return (
            "; ".join([*sentences, *([f"{count_kept} {'stays' if count_kept == 1 else 'stay'}"] if count_kept else [])])
            + "."
        )
    nothing = "No statement is lost" if coverage.dropped else "Nothing is lost"
    return f"{nothing}: {many(count_kept, 'statement stays', 'statements stay')} word for word." if count_kept else ""


def following(diffs: Sequence[FileDiff]) -> str:
    """Name the files whose links or lines follow: `Links and lines follow in MEMORY.md, review.`"""
    names = [name(diff.path) for diff in diffs if diff.repaired]
    return f"Links and lines follow in {some(names)}." if names else ""


def saved(savings: Savings) -> str:
    """Say what there is less and more of: `Saves 2 memories, 1.2 kB.`, `Saves 1 line of MEMORY.md; adds 3 B.`"""
    less, more = _counted(savings, 1), _counted(savings, -1)
    if savings.index_lines > 0 and not savings.memories and savings.bytes + savings.index_bytes < 0:
        return f"Saves {less[0]}. The files are {more[0]} longer."
    parts = [f"{verb} {', '.join(words)}" for verb, words in (("saves", less), ("adds", more)) if words]
    summary = "; ".join(parts)
    return f"{summary[:1].upper()}{summary[1:]}." if parts else ""


def _counted(savings: Savings, sign: int) -> list[str]:
    """Return in words what is less (`sign` 1) or more (-1)."""
    memories, lines = sign * savings.memories, sign * savings.index_lines
    tokens, total = sign * round(savings.index_bytes / 4), sign * (savings.bytes + savings.index_bytes)
    context = f" (about {many(tokens, 'token')} of each session)" if tokens > 0 else ""
    counts = [
        many(memories, "memory", "memories") if memories > 0 else "",
        f"{many(lines, 'line')} of MEMORY.md{context}" if lines > 0 else "",
        size(total) if total > 0 else "",
    ]
    return [part for part in counts if part]


def made(proposals: Sequence[Proposal]) -> str:
    """Say what was done: `Approved 3 changes: 2 merged, 1 archived.`"""
    counts = [(sum(proposal.kind == kind for proposal in proposals), word) for kind, word in DONE.items()]
    words = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"Approved {many(len(proposals), 'change')}: {words}."


def done(proposals: Sequence[Proposal]) -> str:
    """Say what was done: `Approved: fix MEMORY.md of agent:reviewer.`, or of several as `made`."""
    if len(proposals) > 1:
        return made(proposals)
    words, label = title(proposals[0]), scope_of(proposals[0])
    return f"Approved: {words} of {label}." if label and words.endswith("MEMORY.md") else f"Approved: {words}."


def refused(refused: Refused) -> str:
    """Say that a proposal was not made, and why; or that it was made already."""
    if refused.reason == "made":
        return f"Made already: {title(refused.proposal)}."
    return f"Not made ({REFUSED[refused.reason]}): {title(refused.proposal)}. {refused.error.message}"
