"""Checks of the person's own content: memories and their indexes, trust in them, and the inboxes."""

from collections.abc import Iterator

from memtui.core.base import fastjson, fs, ids, paths
from memtui.core.base.finding import Finding, problem
from memtui.core.base.storage import read_or_none
from memtui.core.health.index_report import Report
from memtui.core.inbox import claimed, undelivered
from memtui.core.inbox import format as inbox_format
from memtui.core.memories import index as memory_index
from memtui.core.memories import scopes, status
from memtui.core.memories.memory import Memory
from memtui.core.places import locate
from memtui.core.places import trust as trusting
from memtui.core.redaction import redact
from memtui.core.review.waiting import waiting_in
from memtui.core.settings import config

# The age from which an unsettled claim is a finding.
CLAIM_SECONDS = 3600.0


def inboxes(root: str, now: float) -> Iterator[Finding]:
    """Find inboxes that can't be read, guidance that can't be delivered, and claims that nobody settled."""
    budget = config.number(config.load(root), "budget")
    for slug in [None, *paths.inbox_slugs(root)]:
        directory = paths.inbox_dir(root, slug)
        unread: list[Finding] = []
        waiting_in(root, [slug], unread=unread)
        yield from unread
        guidance = f"{directory}/{inbox_format.FILES['guidance']}"
        if not any(each.data["path"] == guidance and each.code != "inbox.part" for each in unread):
            yield from _guidance(slug, directory, now, budget)
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
                yield problem("inbox.unproven", inbox=slug or "global", delivery=delivery_id, path=path)


def _guidance(slug: str | None, directory: str, now: float, budget: int) -> Iterator[Finding]:
    inbox = slug or "global"
    for entry in inbox_format.read(f"{directory}/{inbox_format.FILES['guidance']}"):
        found = undelivered.findings(entry, directory, now, budget)
        if (first := next(found, None)) is not None:
            yield first
        # memtui itself warns of secrets before it leaves a note with `from`.
        if not entry.fields.get("from") and (kinds := redact.kinds_in(entry.text)):
            described = redact.described(kinds)
            yield problem("inbox.secret", f"note:{entry.id}", inbox=inbox, id=entry.id[-6:], kinds=described)


def memories(env: dict[str, str], cwd: str, known: dict[str, Memory] | None) -> Iterator[Finding]:
    """Find broken memories, and indexes that don't match them. `known` as for `status.of_scope`."""
    for scope in scopes.discover(env, cwd):
        if scope.problem:
            yield problem("memories.scope", scope=scope.label, path=scope.directory, why=scope.problem)
            continue
        if scope.kind == "instructions" or not scope.exists:
            continue
        every = list(scopes.memories(scope, known))
        names = status.names(every)
        for memory in every:
            yield from status.of_memory(scope, memory, names)
        yield from _index(paths.root(env), scope)


def _index(root: str, scope: scopes.Scope) -> Iterator[Finding]:
    data = read_or_none(scope.index_path)
    if data is not None:
        yield from Report(root, scope, memory_index.parse_index(data)).findings()


def trust(env: dict[str, str], root: str, cwd: str) -> Iterator[Finding]:
    """Find memories that are not delivered because they are not trusted, and a trust file that can't be read."""
    path = trusting.path(root)
    data = fs.read_or_empty(path)
    if data.strip() and not isinstance(fastjson.loads_dict(data).get("dirs"), dict):
        yield problem("trust.unreadable", path=path)
    directory, exists = locate.project_dir(env, cwd)
    if not exists or locate.leaves_repository(directory):
        return  # `memories` reports the symlink
    found = trusting.status(root, directory)
    waiting = [*found.new, *found.changed]
    if waiting:
        yield problem("trust.waiting", f"memory:{directory}/{waiting[0]}", directory=directory, files=waiting)
    for name, why in found.refused.items():
        yield problem("trust.refused", path=f"{directory}/{name}", why=why)
