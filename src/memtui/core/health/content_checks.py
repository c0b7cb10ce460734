"""Checks of the person's own content: memories and their indexes, trust in them, and the inboxes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import cast

from memtui.core.base import fastjson, fs, ids, paths
from memtui.core.base.finding import Finding, problem
from memtui.core.inbox import claimed, undelivered
from memtui.core.inbox import format as inbox_format
from memtui.core.memories import scopes, status
from memtui.core.memories.index_state import IndexState, index_of
from memtui.core.memories.memory import LinkTargets, Memory
from memtui.core.places import trust as trusting
from memtui.core.redaction import redact
from memtui.core.review.waiting import waiting_in
from memtui.core.settings import config

# The age from which an unsettled claim is a finding.
CLAIM_SECONDS = 3600.0


def inboxes(root: str, names: Iterable[tuple[str | None, str]], now: float) -> Iterator[Finding]:
    """Find unreadable inboxes, undeliverable notes, unsettled claims; `names` by slug, None for the global one."""
    for slug, name in names:
        for each in _inbox(root, slug, now):
            yield each._replace(data={**each.data, "inbox": name})


def _inbox(root: str, slug: str | None, now: float) -> Iterator[Finding]:
    directory, budget = paths.inbox_dir(root, slug), config.number(config.load(root), "budget")
    unread: list[Finding] = []
    waiting_in(root, [slug], unread=unread)
    yield from unread
    guidance = f"{directory}/{inbox_format.FILES['guidance']}"
    if not any(each.data["path"] == guidance for each in unread):
        for entry in inbox_format.read(guidance):
            yield from islice(undelivered.findings(entry, directory, now, budget), 1)
            yield from secret(entry)
    for file, delivery_id, _, _ in claimed.listed(directory):
        path = f"{directory}/{inbox_format.CLAIMED}/{file}"
        try:
            fs.read(path, "claim")
        except FileNotFoundError:
            continue
        except OSError as error:
            yield problem("inbox.claim_unread", path=path, why=error.strerror)
            continue
        if now - (ids.id_time(delivery_id) or now) > CLAIM_SECONDS:
            yield problem("inbox.unproven", delivery=delivery_id, path=path)


def secret(entry: inbox_format.Entry) -> Iterator[Finding]:
    """Find what looks like a secret in a note; memtui itself warns of it before it leaves a note with `from`."""
    if not entry.fields.get("from") and (kinds := redact.kinds_in(entry.text)):
        yield problem("inbox.secret", f"note:{entry.id}", id=entry.id[-6:], kinds=redact.described(kinds), inbox="")


def memories(
    root: str,
    scope: scopes.Scope,
    known: dict[str, Memory] | None,
    go_on: Callable[[], bool] = lambda: True,
    others: Sequence[scopes.Scope] = (),
) -> Iterator[Finding]:
    """Find broken memories of a scope, and what in its index does not match. `go_on`: False ends the search."""
    if scope.problem:
        yield problem("memories.scope", scope=scope.shown, path=scope.directory, why=scope.problem)
        return
    if scope.kind == "instructions" or not scope.exists:
        return
    every = [*takewhile(lambda _: go_on(), scopes.memories(scope, known))]
    targets = LinkTargets(every)
    broken: dict[object, Finding] = {}  # by what they link to: many memories can link to one that is gone
    for memory in takewhile(lambda _: go_on(), every):
        for each in status.of_memory(scope, memory, targets, others):
            if each.code not in status.LINKS:
                yield each
            elif (before := broken.get(each.data["link"])) is not None:
                cast("list[str]", before.data["files"]).append(memory.stem)
            else:
                broken[each.data["link"]] = each
    yield from broken.values()
    if go_on():
        yield from IndexState(root, scope, index_of(scope)).findings()


def trust(root: str, every: Iterable[scopes.Scope]) -> Iterator[Finding]:
    """Find memories that are not delivered because they are not trusted, and a trust file that can't be read."""
    path = trusting.path(root)
    data = fs.read_or_empty(path)
    if data.strip() and not isinstance(fastjson.loads_dict(data).get("dirs"), dict):
        yield problem("trust.unreadable", path=path)
    for scope in every:
        if waiting := status.not_trusted(root, scope):
            yield status.trust_waiting(scope, waiting)
