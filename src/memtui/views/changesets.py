"""What a proposal does, drops and saves, and why it is made or can't be: in words, and as parts of its detail."""

import os
from collections.abc import Sequence

from memtui.base import findings
from memtui.base.finding import NOTE, Finding
from memtui.base.phrasing_hot import cut, many, size
from memtui.store.plan import FileDiff
from memtui.tidy import changeset
from memtui.tidy.changeset import Proposal, ProposalEvidence, Refused, Savings, Weighed, name, title
from memtui.tidy.coverage import Coverage
from memtui.views import colours, safe_text
from memtui.views.parts import File, Part, TextDifference, Words, heading, line
from memtui.views.words import TABLES

MEANINGS = TABLES["proposals"]
# Names in a list's row before the rest is counted.
NAMED = 3
FILES = 12  # that are listed
STATEMENT = 300  # characters
DROPPED = "red"

REFUSED = TABLES["refused"]


def about(proposal: Proposal) -> str:
    """Return the memories that a proposal is about: `prefer-pnpm + pnpm-only` for a merge, the one that stays first."""
    removed, outputs = [name(path) for path in proposal.gone], [name(path.path) for path in proposal.written]
    stems = {"archive": removed, "merge": [*outputs, *removed]}.get(proposal.kind, outputs or removed)
    names = list(dict.fromkeys(stems or [name(file.path) for file in proposal.files]))
    join = " + " if proposal.kind == "merge" else ", "
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return join.join([*names[:NAMED], *more])


def gist(proposal: Proposal) -> str:
    """Return the sentence of the inbox for a proposal: what is merged, else why; of several problems the first."""
    if proposal.kind == "merge":
        return about(proposal)
    what = title(proposal)
    what = f"{what[:1].upper()}{what[1:]}"
    sentence = next(iter(reasons(proposal)), what)
    if proposal.word == "rule":  # what it does first, then why
        facts = proposal.evidence[0].data
        place = f"{facts.get('scope')}:{facts.get('memory')} "
        return f"{what}: {sentence.removeprefix(place).removeprefix('was ')}"
    first, _, others = sentence.partition(". MEMORY.md of ")
    return f"{first} ({many(len(proposal.evidence) - 1, 'more problem')})." if others else sentence


def scope_of(proposal: Proposal) -> str:
    """Return the label of the scope that a proposal is about; empty if its evidence names none."""
    return next((str(evidence.data["scope"]) for evidence in proposal.evidence if "scope" in evidence.data), "")


def without_scope(sentence: str, label: str, place: str) -> str:
    """Return a sentence without the label of its scope, whose name `place` begins one about its MEMORY.md."""
    if not label:
        return sentence
    words = sentence.removeprefix(f"{label}:").replace(f" {label}:", " ").replace(f" of {label} ", " ")
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


def added(proposal: Proposal) -> list[str]:
    """List what a model wrote that no memory says, as far as words tell; nothing of what a person edited since."""
    return [text for evidence in proposal.evidence if evidence.code == changeset.ADDED for text in evidence.texts]


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


def covered(coverage: Coverage) -> str:
    """Say what is lost and what stays: `Nothing is lost: 5 statements stay word for word.`"""
    dropped, count_kept, reworded = len(coverage.lost), coverage.count("kept"), coverage.count("reworded")
    sentences = [f"{many(dropped, 'statement is', 'statements are')} dropped"] if dropped else []
    if reworded:
        sentences.append(f"{many(reworded, 'statement is', 'statements are')} in other words")
    if sentences:
        sentences += [many(count_kept, "stays", "stay")] * bool(count_kept)
        return "; ".join(sentences) + "."
    nothing = "No statement is lost" if coverage.dropped else "Nothing is lost"
    return f"{nothing}: {many(count_kept, 'statement stays', 'statements stay')} word for word." if count_kept else ""


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
    counts = [(sum(proposal.kind == kind for proposal in proposals), word) for kind, word in changeset.DONE.items()]
    words = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"Approved {many(len(proposals), 'change')}: {words}."


def done(proposals: Sequence[Proposal]) -> str:
    """Say what was done: `Approved: fix MEMORY.md of agent:reviewer.`, or of several as `made`."""
    if len(proposals) > 1:
        return made(proposals)
    words, label = title(proposals[0]), scope_of(proposals[0])
    return f"Approved: {words} of {label}." if label and words.endswith("MEMORY.md") else f"Approved: {words}."


def refused(refused: Refused) -> str:
    return f"Not made ({REFUSED[refused.reason]}): {title(refused.proposal)}. {refused.error.message}"


def describe(proposal: Proposal, weighed: Weighed | None, place: str, *, titled: bool = True) -> list[Part]:
    """Return what is proposed in the scope `place`, why, and what it changes, what is dropped first; without `place`
    in its first line where it is not `titled`."""
    label, coverage = scope_of(proposal), weighed.coverage if weighed is not None else None
    sentences = [without_scope(reason, label, place) for reason in reasons(proposal)]
    parts: list[Part] = [
        Words(safe_text.line(title(proposal), 300), "bold"),
        Words(safe_text.line(f"   {place}" if place and titled else "", 200) + "\n", colours.QUIET),
        *(line(sentence if titled else sentence.removeprefix(f"{place}: "), most=1000) for sentence in sentences),
    ]
    if proposal.kind == "mute":
        prompts = [text for evidence in proposal.evidence for text in evidence.texts]
        parts += [heading("the newest prompts that brought it"), *map(line, prompts)]
    if weighed is not None and weighed.refused is not None:
        error = weighed.refused.error
        parts.append(line(f"! {error.message} {error.hint}", colours.WARNING, 600))
    has_lost = coverage is not None and bool(coverage.lost)
    shown = statements(coverage) if coverage is not None and (coverage.dropped or proposal.kind == "merge") else []
    return [*parts, *(shown * has_lost), *additions(proposal), *files(proposal, weighed), *(shown * (not has_lost))]


def facts(proposal: Proposal, weighed: Weighed | None) -> list[Part]:
    """Return what a proposal saves, and who made it."""
    source = f"proposed by {proposal.by}" if proposal.by != changeset.BY else ""
    return [line(saved(weighed.savings) if weighed is not None else "", colours.QUIET), line(source, colours.QUIET)]


def statements(coverage: Coverage | None) -> list[Part]:
    """Return what becomes of the statements of its memories: what is dropped comes first."""
    if coverage is None:
        return []
    parts: list[Part] = []
    dropped, reworded = coverage.lost, coverage.of("reworded")
    if dropped:
        parts.append(heading(f"dropped: {many(len(dropped), 'statement')}"))
        for cover in dropped:
            parts.append(Words(f"- {_shorten(cover.statement.text)}", DROPPED))
            parts.append(line(f"  {name(cover.statement.path)}", colours.QUIET))
    if texts := fields(coverage):
        parts += [heading("fields"), *(Words(f"{_shorten(text)}\n") for text in texts)]
    if reworded:
        parts.append(heading(f"in other words: {many(len(reworded), 'statement')}"))
        for cover in reworded:
            parts.append(Words(f"~ {_shorten(cover.statement.text)}\n", colours.QUIET))
            parts += [Words(f"  {_shorten(cover.target.text)}\n")] if cover.target is not None else []
    if not dropped and (words := covered(coverage)):
        parts.append(Words(f"\n{words}\n", colours.QUIET))
    return parts


def additions(proposal: Proposal) -> list[Part]:
    texts = added(proposal)
    words = heading(f"added by the model: {many(len(texts), 'statement')} that no memory has")
    return [words, *(Words(f"+ {_shorten(text)}\n", colours.WARNING) for text in texts)] if texts else []


def files(proposal: Proposal, weighed: Weighed | None) -> list[Part]:
    """Return the differences of the files, as far as they are known, those that go last; of a merge also what stays."""
    diffs = sorted(weighed.diffs if weighed is not None else (), key=lambda diff: diff.after is None)
    same = [file for file in proposal.written if file.after == file.before] if diffs else []
    parts = [part for diff in [*same, *diffs[:FILES]] for part in _difference(proposal, diff)]
    rest = len(diffs) - FILES
    return [*parts, Words(f"and {many(rest, 'more file')}\n", colours.QUIET)] if rest > 0 else parts


def _shorten(words: str) -> str:
    return cut(safe_text.line(" ".join(words.split())), STATEMENT)


def _difference(proposal: Proposal, diff: FileDiff) -> list[Part]:
    """Return the difference of a file."""
    here = os.path.dirname(diff.path) == os.path.dirname(proposal.files[0].path)
    path = safe_text.line(os.path.basename(diff.path) if here else diff.path, 300)
    updated = "  is updated" if diff.repaired else "  stays as it is" if diff.after == diff.before else ""
    what = "  is deleted" if diff.after is None else "  is new" if diff.before is None else updated
    difference: Part = TextDifference(diff.before or b"", diff.after or b"")
    if diff.after == diff.before:
        difference = File((diff.after or b"").decode("utf-8", "replace").rstrip("\n"), diff.path)
    return [Words(f"\n{path}", "bold"), Words(f"{what}\n", colours.QUIET), difference]
