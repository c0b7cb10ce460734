"""What is proposed and waits for a person: planned now, or saved in `proposals/`; `rejected.json`."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import combinations
from typing import Any, NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.base.errors import MemtuiError, UsageError
from memtui.base.finding import PROBLEM
from memtui.base.findings import Problem
from memtui.base.phrasing_hot import many
from memtui.base.storage import read_or_none, storage_error, storing
from memtui.store import memory, mutes_hot, sidecars
from memtui.store.journal import acts
from memtui.store.journal.changes import FileChange
from memtui.store.plan import FileDiff
from memtui.store.scopes import Scope
from memtui.store.store import Store
from memtui.tidy import plan
from memtui.tidy.changeset import Composition, Proposal, ProposalEvidence, check, sha256, title
from memtui.tidy.checks import lint_fixes
from memtui.tidy.checks.lint import LintInput

VERSION = 1
# Saved proposals that are refused for these reasons are not shown.
OUTDATED = {"stale", "forbidden"}
# The most bytes of a file; the newest rejections that are kept.
MAX_BYTES, MOST_REJECTED = 64 << 20, 10_000


class UndecidedSet(NamedTuple):
    """Proposals that wait, saved ones first; problems left, by cause; the files whose fix was rejected."""

    proposals: tuple[Proposal, ...]
    left: tuple[Problem, ...]
    rejected: frozenset[str]


def undecided(
    store: Store, subject: LintInput, go_on: Callable[[], bool] = lambda: True, within: Sequence[Scope] = ()
) -> UndecidedSet:
    """Plan (of the scopes `within` only), and read the saved proposals. Raises MemtuiError."""
    planned = plan.plan(store, subject, go_on)
    proposals = plan.within(planned.proposals, within) if within else planned.proposals
    waiting = [*([] if within else _saved_here(store)), *proposals]
    is_rejected = rejections(store.root)
    unique: dict[str, Proposal] = {}
    for proposal in waiting:
        if not is_rejected(proposal):
            unique.setdefault(proposal.id, proposal)
    # What is left for a person: no proposal is about it.
    planned_evidence = [part for proposal in (*planned.proposals, *planned.fixes) for part in proposal.evidence]
    reasons = {(part.code, part.data.get("path")) for part in planned_evidence}
    problems = [finding for finding in planned.findings if finding.level == PROBLEM]
    findings = [finding for finding in problems if (finding.code, finding.data.get("path")) not in reasons]
    files_rejected = frozenset(file.path for fix in filter(is_rejected, planned.fixes) for file in fix.files)
    return UndecidedSet(tuple(unique.values()), tuple(lint_fixes.by_cause(findings)), files_rejected)


def _saved_here(store: Store) -> list[Proposal]:
    """List the saved proposals that can be made in the scopes here, or wait for a person to trust a memory."""
    files = store.files()
    refusals = [(proposal, Composition(files, [proposal]).refused) for proposal in saved(store.root)]
    return [proposal for proposal, refused in refusals if not refused or refused[0].reason not in OUTDATED]


def is_open(root: str, proposal: Proposal) -> bool:
    """Tell whether the files of a proposal are as they were, and a memory that it would mute is not muted."""
    if proposal.kind == "mute":
        directory = str(proposal.evidence[0].data["directory"])
        if mutes_hot.is_muted(root, directory, proposal.files[0].path.removeprefix(directory + "/")):
            return False
    return proposal.is_current


def rejected_path(root: str) -> str:
    return root + "/rejected.json"


def rejected(root: str) -> list[str]:
    """Read the ids of what was rejected, oldest first; none from a file that can't be read."""
    try:
        return _ids(read_or_none(rejected_path(root)) or b"")
    except OSError:
        return []


def _ids(data: bytes) -> list[str]:
    return [name for name in fastjson_hot.rows(fastjson_hot.loads_dict(data), "ids") if isinstance(name, str)]


def _for_good(proposal: Proposal) -> str:
    """Return what a proposal that is rejected for good is known by, however its memories change."""
    return " ".join(["never", proposal.ref, *sorted({evidence.code for evidence in proposal.evidence})])


def rejections(root: str) -> Callable[[Proposal], bool]:
    names = set(rejected(root))
    return lambda proposal: not names.isdisjoint((proposal.subject, _for_good(proposal)))


def reject(store: Store, proposals: Sequence[Proposal], *, never: bool = False) -> bool:
    """Reject proposals: until their memories change, or `never` again; False: nothing changed. Raises MemtuiError."""
    if not proposals:
        return False  # nothing is read that could fail behind what was made already
    files, pairs = store.files(), 0
    with store.journal.together():
        for each in proposals:
            present = [file.path for file in each.files if never and each.kind == "merge" and os.path.exists(file.path)]
            memories = [memory.read_memory(path, files.scope_of(path).scope.label) for path in present]
            pairs += sum(sidecars.keep_apart(store.journal, *pair) for pair in combinations(memories, 2))
        path = rejected_path(store.root)
        before = read_or_none(path)
        names_then = _ids(before or b"")
        new = tuple(each for each in proposals if (_for_good(each) if never else each.subject) not in names_then)
        if new:
            names = [*names_then, *(each.subject for each in new), *(_for_good(each) for each in new if never)]
            names = list(dict.fromkeys(names))[-MOST_REJECTED:]
            data = fastjson_hot.dumps({"v": 1, "ids": names}).encode() + b"\n"
            subject = title(proposals[0]) if len(proposals) == 1 else many(len(proposals), "change")
            words = acts.summary("reject", subject) + " for good" * never
            if never and all(each.subject in names_then for each in new):
                words = f"{acts.NEVER} {subject} again"
            store.journal.run("reject", [FileChange(path, before, data)], words)
    return bool(new) or pairs > 0


def directory(root: str) -> str:
    return root + "/proposals"


def save(root: str, proposals: Sequence[Proposal], now: float) -> str:
    """Save proposals of one maker and return their file; older files that they repeat go. Raises MemtuiError."""
    path = f"{directory(root)}/{ids_hot.new_id(now)}.json"
    with storing(path):
        fs_hot.write_atomic(path, dumps(proposals, now))
    about = set(map(_about, proposals))
    for older, earlier in [*_sets(root)]:
        if older != path and about.issuperset(map(_about, earlier)):
            fs_hot.unlink(older)
    return path


def _about(proposal: Proposal) -> tuple[object, ...]:
    """Return what a proposal repeats if another one has it: its maker, kind and texts."""
    texts = {(file.path, file.before) for file in proposal.files if file.before is not None}
    return proposal.by, proposal.kind, frozenset(texts)


def waiting(root: str) -> int:
    """Count the saved proposals that nobody decided yet and whose files are as they were then."""
    is_rejected = rejections(root)
    return len({proposal.id for proposal in saved(root) if not is_rejected(proposal) and proposal.is_current})


def saved(root: str) -> list[Proposal]:
    """List all saved proposals, newest first, also about files that changed since."""
    return [proposal for _, proposals in _sets(root) for proposal in proposals]


def _sets(root: str) -> Iterator[tuple[str, list[Proposal]]]:
    """Yield the path and proposals of each file, newest first, without those that can't be read."""
    for name in sorted(paths_hot.names_in(directory(root)), reverse=True):
        if name.endswith(".json") and ids_hot.id_time(name.removesuffix(".json")) is not None:
            with suppress(MemtuiError):
                yield f"{directory(root)}/{name}", read(f"{directory(root)}/{name}")


def dumps(proposals: Sequence[Proposal], now: float) -> bytes:
    """Return the file of proposals of one maker; characters beyond ASCII, and bytes that are no text, as escapes."""
    rows = []
    for each in proposals:
        read = [file for file in each.files if file.before is not None]
        inputs = [{"path": file.path, "sha256": sha256(file.before), "text": _text(file.before)} for file in read]
        outputs = [{"path": file.path, "text": _text(file.after)} for file in each.outputs]
        row = {"id": each.id, "kind": each.kind, "reason": each.reason, "evidence": list(map(asdict, each.evidence))}
        rows.append({**row, "inputs": inputs, "outputs": outputs})
    whole = {"v": VERSION, "time": clock_hot.iso_seconds(now), "by": proposals[0].by, "changes": rows}
    return json.dumps(whole, indent=2).encode() + b"\n"


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _data(row: dict[str, Any]) -> bytes | None:
    return None if row["text"] is None else bytes(row["text"].encode("utf-8", "surrogateescape"))


def read(path: str) -> list[Proposal]:
    """Read the proposals of a file. Raises UsageError if it has none, MemtuiError."""
    try:
        row = json.loads(fs_hot.read_bytes(path, MAX_BYTES))
        if row["v"] != VERSION:
            raise ValueError(f"it is not of version {VERSION}")
        return [_proposal(change, str(row["by"])) for change in row["changes"]]
    except OSError as error:
        raise storage_error(error, path) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} has no proposals that this memtui reads: {error!r}.", "Plan again.") from error


def _proposal(row: dict[str, Any], by: str) -> Proposal:
    parts = [ProposalEvidence(it["code"], it["score"], tuple(it["texts"]), it["data"]) for it in row["evidence"]]
    before = {str(item["path"]): _data(item) for item in row["inputs"]}
    after = {str(item["path"]): _data(item) for item in row["outputs"]}
    if (len(before), len(after)) != (len(row["inputs"]), len(row["outputs"])):
        raise ValueError("it names a file twice")
    files = [FileDiff(path, before.get(path), after.get(path, before.get(path))) for path in {**before, **after}]
    proposal = Proposal(str(row["id"]), row["kind"], str(row["reason"]), tuple(parts), tuple(files), by)
    check(proposal)
    return proposal
