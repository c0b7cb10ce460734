"""What is wrong with what a person keeps: memories and their index, trust in them, and what waits in the inboxes."""

from collections.abc import Callable, Iterator
from functools import partial

from memtui.core.base import clock, fastjson, fs, ids, paths, visible
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.health.findings import PROBLEM, Finding, some
from memtui.core.inbox import claimed, claims
from memtui.core.inbox import format as inbox_format
from memtui.core.memories import index as memory_index
from memtui.core.memories import index_budget, scopes
from memtui.core.memories.memory import Memory
from memtui.core.places import locate
from memtui.core.places import trust as trusting
from memtui.core.redaction import redact
from memtui.core.review import triage

CLAIM_SECONDS = 3600.0
Fits = Callable[[inbox_format.Entry, str, str], bool]


def inboxes(root: str, now: float, fits: Fits) -> Iterator[Finding]:
    """Inboxes that can't be read, guidance that will not be delivered, claims that nobody settled."""
    for slug in [None, *triage.slugs(root)]:
        directory = paths.inbox_dir(root, slug)
        name = slug or "global"
        unread: list[MemtuiError] = []
        triage.waiting(root, [slug], unread=unread)
        for error in unread:
            yield Finding("inbox", PROBLEM, error.message, error.hint)
        for kind, file in inbox_format.FILES.items():
            path = f"{directory}/{file}"
            if any(error.message.startswith(path + " ") for error in unread) and not inbox_format.unread(path):
                continue
            if kind == "guidance":
                yield from _guidance(slug, directory, now, fits)
        for file, delivery_id, _, _ in claimed.listed(directory):
            try:
                fs.read(f"{directory}/{inbox_format.CLAIMED}/{file}", "claim")
            except FileNotFoundError:
                continue
            except OSError as error:
                where = f"{directory}/{inbox_format.CLAIMED}/{file}"
                yield Finding("inbox", PROBLEM, f"{where} {error.strerror}: nobody settles it", f"Move {where} away.")
                continue
            if now - (ids.id_time(delivery_id) or now) > CLAIM_SECONDS:
                yield Finding(
                    "inbox",
                    PROBLEM,
                    f"{name}: guidance taken by delivery {delivery_id} is still unproven",
                    "The next session of that project settles it, and memtui doctor --fix guidance; or move"
                    f" {directory}/{inbox_format.CLAIMED}/{file} back.",
                )


def _guidance(slug: str | None, directory: str, now: float, fits: Fits) -> Iterator[Finding]:
    for entry in inbox_format.read(f"{directory}/{inbox_format.FILES['guidance']}"):
        what = f"{slug or 'global'}: guidance {entry.id[-6:]}"
        attempts = entry.fields.get("attempts", "0")
        withdraw = f"memtui guide --withdraw {entry.id[-6:]}"
        again = f"memtui guide --again {entry.id[-6:]}, or {withdraw}"
        told = partial(Finding, "inbox", PROBLEM, about=f"note:{entry.id}")
        whom = claims.no_addressee(entry)
        expires = entry.fields.get("expires")
        if whom:
            yield told(f"{what} is for “{whom}”: nobody", f"Mend its `for`, or {withdraw}")
        elif expires and clock.parse(expires) is None:
            yield told(f"{what} never expires: “{expires}” is no time", f"Mend its `expires`, or {withdraw}")
        elif entry.expired(now):
            yield told(f"{what} expired undelivered", again)
        elif attempts.isdigit() and int(attempts) >= claims.MAX_ATTEMPTS:
            yield told(f"{what} is held: it came back {attempts} times", again)
        elif "\0" in entry.text:
            yield told(f"{what} is binary and not delivered", withdraw)
        elif not fits(entry, "project" if slug else "global", directory):
            yield told(f"{what} is too long to be delivered", f"Shorten it, or {withdraw}")
        # Who left a note with memtui was asked already.
        if not entry.fields.get("from") and (kinds := redact.kinds_in(entry.text)):
            reword = f"memtui guide --edit {entry.id[-6:]} TEXT"
            yield told(f"{what} looks like it holds {redact.described(kinds)}", f"{reword}, or {withdraw}")


def memories(env: dict[str, str], cwd: str, known: dict[str, Memory] | None) -> Iterator[Finding]:
    """Memories that can't be read, and indexes that don't fit them. `known` as for `survey.survey`."""
    for scope in scopes.discover(env, cwd):
        if scope.problem:
            yield Finding("memories", PROBLEM, f"{scope.label}: {scope.directory} {scope.problem}", "Remove the link.")
            continue
        if scope.kind == "instructions" or not scope.exists:
            continue
        for memory in scopes.memories(scope, known):
            if memory.broken:
                where = f"{scope.label}:{memory.stem}"
                linked = memory.broken == locate.LEAVES
                remedy = "Remove the link." if linked else f"Mend {memory.path} in an editor."
                yield Finding(
                    "memories", PROBLEM, f"{where} is broken: {memory.broken}", remedy, f"memory:{memory.path}"
                )
            unseen = _unseen(memory.raw)
            if unseen:
                yield Finding(
                    "memories",
                    PROBLEM,
                    f"{scope.label}:{memory.stem} holds {many(unseen, 'character')} that nobody can see",
                    f"Instructions can hide so: look at {memory.path} in an editor that shows them.",
                    f"memory:{memory.path}",
                )
        yield from _index(paths.root(env), scope)


def _unseen(raw: bytes) -> int:
    """How many characters of a file draw nothing; a byte order mark at its begin is none."""
    if raw.isascii():
        return 0
    return sum(map(visible.hidden, raw.decode("utf-8-sig", "replace").replace("\r\n", "\n")))


def _index(root: str, scope: scopes.Scope) -> Iterator[Finding]:
    try:
        index = memory_index.parse_index(fs.read_bytes(scope.index_path))
    except (FileNotFoundError, NotADirectoryError):
        return
    files = [name for name, problem in scopes.files(scope) if not problem]
    budget = index_budget.budget(index.raw, agent=scope.kind == "agent")
    fix, here = f"memtui index --scope {scope.label} --fix", f"index:{scope.label}"
    if budget.cut_line is not None:
        yield Finding(
            "memories",
            PROBLEM,
            f"{scope.label}: MEMORY.md is too long, cut at line {budget.cut_line}: {len(budget.below)} memories below",
            "Shorten lines or move memories elsewhere: memtui index",
            f"index:{scope.label}",
        )
    own = [entry for entry in memory_index.dangling(index, files) if entry.leads]
    if own:
        names = some([entry.target for entry in own])
        yield Finding("memories", PROBLEM, f"{scope.label}: MEMORY.md points to what is not there: {names}", fix, here)
    absent = memory_index.missing(index, scopes.indexed(root, scope))
    if absent:
        yield Finding("memories", PROBLEM, f"{scope.label}: MEMORY.md has no line for {some(absent)}", fix, here)


def trust(env: dict[str, str], root: str, cwd: str) -> Iterator[Finding]:
    """What is not delivered since nobody trusts it."""
    path = trusting.path(root)
    data = fs.read_or_empty(path)
    if data.strip() and not isinstance(fastjson.loads_dict(data).get("dirs"), dict):
        yield Finding(
            "trust", PROBLEM, f"{path} can't be read: nothing is trusted", "Mend it, or remove it and trust again."
        )
    directory, exists = locate.project_dir(env, cwd)
    if not exists or locate.leaves_repository(directory):
        return  # as `memories` tells
    found = trusting.status(root, directory)
    waiting = [*found.new, *found.changed]
    if waiting:
        yield Finding(
            "trust",
            PROBLEM,
            f"not trusted, so not delivered, in {directory}: {some(waiting)}",
            "Read them, then: memtui trust",
            f"memory:{directory}/{waiting[0]}",
        )
    for name, why in found.refused.items():
        yield Finding("trust", PROBLEM, f"{directory}/{name} {why}", "Remove the link.")
