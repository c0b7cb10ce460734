"""Words for ChangeSets in both user interfaces: what a proposal does and drops, why it can't be made, what is saved."""

from collections.abc import Sequence

from memtui.consolidate.changeset import ADDED, Proposal, ProposalEvidence, name, title
from memtui.consolidate.composing import DONE, Reason, Refused, Savings
from memtui.consolidate.coverage import Coverage
from memtui.core.base.finding import NOTE, Finding
from memtui.core.base.phrasing import many, size, some
from memtui.core.health import findings
from memtui.core.memories.plan import FileDiff

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
    """Return the memories that a proposal is about, for a row of a list that has its kind: `prefer-pnpm + pnpm-only`
    for a merge, the one that stays first."""
    gone, written = [name(each) for each in proposal.gone], [name(each.path) for each in proposal.written]
    shown = {"archive": gone, "merge": [*written, *gone]}.get(proposal.kind, written or gone)
    names = list(dict.fromkeys(shown))
    join = " + " if proposal.kind == "merge" else ", "
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return join.join([*names[:NAMED], *more])


def gist(proposal: Proposal) -> str:
    """Return the sentence of the inbox for a proposal: the memories that are merged, else why it is proposed."""
    if proposal.kind == "merge":
        return about(proposal)
    what = title(proposal)
    return next(iter(reasons(proposal)), f"{what[:1].upper()}{what[1:]}")


def scope_of(proposal: Proposal) -> str:
    """Return the label of the scope that a proposal is about; empty if its evidence names none."""
    return next((str(each.data["scope"]) for each in proposal.evidence if "scope" in each.data), "")


def without_scope(sentence: str, label: str, place: str) -> str:
    """Return a sentence without the label of its scope. The name of that, `place`, begins one about its MEMORY.md: in a
    narrow list it stands nowhere else."""
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
    return list(dict.fromkeys(sentence for each in proposal.evidence if (sentence := _sentence(each))))


def _sentence(found: ProposalEvidence) -> str:
    try:
        return findings.message(Finding(found.code, NOTE, "", found.data))
    except (KeyError, ValueError, IndexError):  # of another version, or written by hand
        return " … ".join(found.texts)


def dropped(coverage: Coverage) -> list[str]:
    """List the statements that a proposal drops, each with the memory that has it."""
    return [f"“{each.statement.text}” ({name(each.statement.path)})" for each in coverage.lost]


def added(proposal: Proposal) -> list[str]:
    """List what a model wrote that no memory says, as far as words tell; nothing of what a person edited since."""
    return [text for each in proposal.evidence if each.code == ADDED for text in each.texts]


def fields(coverage: Coverage) -> list[str]:
    """Say of each field of which a proposal drops values what stays: `keeps “type: project”, not “user” (flaky)`."""
    gone = [each.statement for each in coverage.dropped if each.statement.kind == "field"]
    told = []
    for key in dict.fromkeys(each.text.partition(": ")[0] for each in gone):
        kept = [f"“{each.text}”" for each in coverage.fields if each.text.startswith(f"{key}: ")]
        lost = [each for each in gone if each.text.startswith(f"{key}: ")]
        if kept:
            values = [f"“{each.text.partition(': ')[2]}” ({name(each.path)})" for each in lost]
            told.append(f"keeps {', '.join(kept)}, not {', '.join(values)}")
        else:
            told += [f"drops “{each.text}” ({name(each.path)})" for each in lost]
    return told


def lost(found: Sequence[Coverage]) -> str:
    """Say what several proposals dropped: `Dropped: 2 statements; values of the fields type, owner.`, or nothing."""
    statements = sum(len(each.lost) for each in found)
    gone = [each.statement for coverage in found for each in coverage.dropped if each.statement.kind == "field"]
    keys = dict.fromkeys(each.text.partition(": ")[0] for each in gone)
    told = [many(statements, "statement")] if statements else []
    if keys:
        told.append(
            f"{many(len(gone), 'value')} of {'the field' if len(keys) == 1 else 'the fields'} {some(list(keys))}"
        )
    return f"Dropped: {', and '.join(told)}." if told else ""


def reworded(coverage: Coverage) -> list[str]:
    """List the statements that a proposal says in other words, each with the sentence that says it."""
    return [
        f"“{each.statement.text}” ({name(each.statement.path)}) as “{each.targets[0].text}”"
        for each in coverage.of("reworded")
    ]


def covered(coverage: Coverage) -> str:
    """Say how many statements are dropped or in other words, or that nothing is lost, and how many stay: `Nothing is
    lost: 5 statements stay word for word.`; empty if there are none."""
    dropped, kept, reworded = len(coverage.lost), coverage.count("kept"), coverage.count("reworded")
    told = [f"{many(dropped, 'statement is', 'statements are')} dropped"] if dropped else []
    if reworded:
        told.append(f"{many(reworded, 'statement is', 'statements are')} in other words")
    if told:
        return "; ".join([*told, *([f"{kept} {'stays' if kept == 1 else 'stay'}"] if kept else [])]) + "."
    nothing = "No statement is lost" if coverage.dropped else "Nothing is lost"
    return f"{nothing}: {many(kept, 'statement stays', 'statements stay')} word for word." if kept else ""


def following(found: Sequence[FileDiff]) -> str:
    """Name the files whose links or lines follow: `Links and lines follow in MEMORY.md, review.`"""
    names = [name(each.path) for each in found if each.repaired]
    return f"Links and lines follow in {some(names)}." if names else ""


def saved(savings: Savings) -> str:
    """Say what there is less of, and what more: `Saves 2 memories, 3 lines of MEMORY.md (about 40 tokens of each
    session), 1.2 kB.`, `Saves 1 line of MEMORY.md; adds 3 B.`; empty if nothing changes. Bytes are those of
    memories, MEMORY.md and instructions."""
    less, more = _counted(savings, 1), _counted(savings, -1)
    if savings.index_lines > 0 and not savings.memories and savings.bytes + savings.index_bytes < 0:
        return f"Saves {less[0]}. The files are {more[0]} longer."
    told = [f"{verb} {', '.join(words)}" for verb, words in (("saves", less), ("adds", more)) if words]
    said = "; ".join(told)
    return f"{said[:1].upper()}{said[1:]}." if told else ""


def _counted(savings: Savings, sign: int) -> list[str]:
    """Return in words what is less (`sign` 1) or more (-1)."""
    memories, lines = sign * savings.memories, sign * savings.index_lines
    tokens, total = sign * round(savings.index_bytes / 4), sign * (savings.bytes + savings.index_bytes)
    context = f" (about {many(tokens, 'token')} of each session)" if tokens > 0 else ""
    told = [
        many(memories, "memory", "memories") if memories > 0 else "",
        f"{many(lines, 'line')} of MEMORY.md{context}" if lines > 0 else "",
        size(total) if total > 0 else "",
    ]
    return [each for each in told if each]


def made(proposals: Sequence[Proposal]) -> str:
    """Say what was done: `Approved 3 changes: 2 merged, 1 archived.`"""
    counts = [(sum(each.kind == kind for each in proposals), word) for kind, word in DONE.items()]
    words = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"Approved {many(len(proposals), 'change')}: {words}."


def done(proposals: Sequence[Proposal]) -> str:
    """Say what was done: `Approved: merge pnpm-only into prefer-pnpm.`, or of several as `made`."""
    return f"Approved: {title(proposals[0])}." if len(proposals) == 1 else made(proposals)


def refused(refused: Refused) -> str:
    """Say that a proposal was not made, and why; or that it was made already."""
    if refused.reason == "made":
        return f"Made already: {title(refused.proposal)}."
    return f"Not made ({REFUSED[refused.reason]}): {title(refused.proposal)}. {refused.error.message}"
