"""All checks of memtui's files and of the person's content, in order; hooks/install/checkup.py runs these."""

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, takewhile
from types import MappingProxyType
from typing import Any, cast

from memtui.base import clock_hot, fastjson_hot, findings, fs_hot, ids_hot, paths_hot, reverse_lines_hot
from memtui.base.errors import MemtuiError, close_to
from memtui.base.finding import Finding, good, note, problem
from memtui.base.findings import OF_MEMORIES
from memtui.base.phrasing_hot import ago
from memtui.deliver import log_hot
from memtui.inbox import file_hot, format_hot, undelivered
from memtui.redact import redact
from memtui.review.waiting_entries import waiting_in
from memtui.settings import config_hot, setting
from memtui.store import scopes, status, trust_hot
from memtui.store.index.index_state import IndexState, index_of
from memtui.store.journal.journal import Journal
from memtui.store.memory import LinkTargets, Memory
from memtui.store.versions.versions import Versions
from memtui.tidy.checks import fixes
from memtui.tidy.checks.fixes import modes

ERRORS_DAYS = 7
# The age from which an unsettled claim is a finding.
CLAIM_SECONDS = 3600.0
# The most files whose modes are checked.
FILES_CHECKED = 20_000
# What `memories` finds.
CODES = tuple(takewhile("memories.changed".__ne__, OF_MEMORIES))
# Settings that have a model asked.
ASKING = ("dream", "recall_select", "subconscious")


def check(
    env: dict[str, str],
    cwd: str,
    now: float,
    memories_by_path: dict[str, Memory] | None = None,
    more: Mapping[str, Iterator[Finding]] = MappingProxyType({}),
    *,
    reads: bool = True,
) -> list[Finding]:
    """Run all checks but those of hooks and client, and `more` by area; one that fails gives a finding of its own.
    `reads`: also those that read all memories and versions."""
    root = paths_hot.root(env)
    journal = Journal(root)
    here = paths_hot.project_root(cwd)
    scopes_here = scopes.discover(env, cwd)
    of_memories = (memories(root, scope, scopes.memories(scope, memories_by_path)) for scope in scopes_here)
    names = {None: "all projects", paths_hot.project_key(here): os.path.basename(here) or "/"}
    checks: dict[str, Iterator[Finding]] = {
        "root": check_root(root),
        "config": check_settings(env, root, here),
        "errors": errors(root, now),
        "inbox": chain(fixes.renamed(env, here), inboxes(root, names.items(), now)),
        "memories": chain.from_iterable(of_memories),
        "trust": trust(root, scopes_here),
        "journal": unfinished(journal),
        "kept": kept(journal, now),
    }
    if not reads:
        del checks["memories"], checks["kept"]
    own = [finding for area, reports in checks.items() for finding in _run(area, reports) or [good(f"{area}.ok")]]
    return [*own, *(finding for area, reports in more.items() for finding in _run(area, reports))]


def _run(area: str, reports: Iterator[Finding]) -> list[Finding]:
    try:
        return [findings.merged(parts) for parts in findings.grouped(reports)]
    except (OSError, MemtuiError, ValueError, RecursionError) as error:
        why = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else str(error)
        return [problem(f"{area}.failed", why=why)]


def strangers(owners: Sequence[tuple[str, int]]) -> Iterator[Finding]:
    """Report directories that belong to other users, each given as (path, user id)."""
    for path, owner in owners:
        yield problem("root.foreign", path=path, owner=owner)


def check_root(root: str) -> Iterator[Finding]:
    """Check that memtui's directory can be used, and that nobody else can read its files."""
    if not os.path.lexists(root):
        above = root
        while not os.path.isdir(above):
            above = os.path.dirname(above)
        is_open = os.access(above, os.W_OK | os.X_OK)
        yield good("root.absent", root=root) if is_open else problem("root.unmakable", root=root, above=above)
        return
    if not os.path.isdir(root):
        yield problem("root.no_directory", root=root)
        return
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        yield problem("root.unwritable", root=root)
        return
    if os.path.isdir(root + "/projects"):
        for name in sorted(os.listdir(root + "/projects")):
            yield from strangers(paths_hot.inbox_strangers(root, name))
    files = [(path, mode) for path, mode, _ in islice(modes(root), FILES_CHECKED) if fixes.GIT_OBJECTS not in path]
    # In a closed directory an open file, such as a note left by `echo >>`, is safe.
    closed = not os.stat(root).st_mode & 0o077
    open_to_others = [os.path.relpath(path, root) for path, mode in files if mode & 0o077 and not closed]
    locked = [os.path.relpath(path, root) for path, mode in files if mode & 0o600 != 0o600]
    if open_to_others:
        yield problem("root.open", count=len(open_to_others), files=open_to_others, root=root)
    if locked:
        yield problem("root.locked", files=locked, root=root)


def errors(root: str, now: float) -> Iterator[Finding]:
    """Find the errors that hooks and workers logged in the last ERRORS_DAYS days."""
    path = root + "/log/errors.jsonl"
    if not os.path.exists(path):
        return
    recent = []
    for _, line in reverse_lines_hot.lines(path, longest=-1):
        row = fastjson_hot.loads_dict(line)
        seconds = clock_hot.parse(row.get("time"))
        if seconds is None:
            continue
        if seconds < now - ERRORS_DAYS * clock_hot.DAY:
            break
        recent.append(row)
    if recent:
        last = {key: str(recent[0].get(key)) for key in ("time", "where", "error", "message")}
        since = ago(clock_hot.parse(last["time"]), now)
        yield problem("errors.recent", count=len(recent), days=ERRORS_DAYS, path=path, age=since, **last)


def unfinished(journal: Journal) -> Iterator[Finding]:
    """Find changes in the journal that are unfinished, or can't be read and so can't be undone."""
    ledger = journal.ledger()
    if journal.unfinished() is not None:
        yield good("journal.cut_off")
    if ledger.skipped:
        yield good("journal.skipped", count=ledger.skipped, path=journal.path)


def kept(journal: Journal, now: float) -> Iterator[Finding]:
    ledger = journal.ledger()
    oldest = next((clock_hot.parse(transaction.time) for transaction in ledger.all()), None)
    versions = Versions(journal.root)
    versions.follow()
    facts: dict[str, Any] = {
        "changes": sum(transaction.is_change for transaction in ledger.all()),
        "since": now - oldest if oldest is not None else None,
        "bytes": sum(size for _, _, size in modes(journal.root)),
        "log": sum(log_hot.sizes(journal.root).values()),
        "versions": versions.bytes_kept,
        "keep_days": config_hot.number(config_hot.load(journal.root), "keep_days"),
    }
    from memtui.rules import counts_file, counts_update  # only here is a database imported

    if os.path.exists(damaged := f"{journal.root}/{counts_file.DAMAGED}"):
        yield note("kept.counts", path=damaged, days=counts_update.DAYS)
    yield good("kept.ok", **facts)


def check_settings(env: dict[str, str], root: str, project: str) -> Iterator[Finding]:
    """Find mistakes in config.toml, and what switches memtui off there or in the environment."""
    for name in ("CLAUDE_HEADLESS", "MEMTUI_INSIDE"):
        if env.get(name):
            yield note("config.silent", name=name)
    path = config_hot.file_path(root)
    data = fs_hot.read_or_empty(path)
    if not data.strip():
        yield good("config.defaults")
        return
    try:
        settings = tomllib.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        yield problem("config.unreadable", path=path, why=str(error))
        return
    if off := mode_off(settings, project):
        yield off
    yield from no_model(settings, project)
    yield from wrong_settings(settings, path)


def no_model(settings: dict[str, object], project: str) -> Iterator[Finding]:
    """Find settings that have a model asked, while none may be asked."""
    if config_hot.value(settings, project, "llm_backend") != "off":
        return
    for key in ASKING:
        if config_hot.value(settings, project, key) not in {False, "off"}:
            yield note("config.no_model", key=key)


def mode_off(settings: dict[str, object], project: str) -> Finding | None:
    """Return the finding that the mode is off for a project: by its own setting, or for all projects."""
    if config_hot.value(settings, project, "mode") != "off":
        return None
    return note("config.mode_off_here" if config_hot.is_own(settings, project, "mode") else "config.mode_off")


def wrong_settings(settings: dict[str, object], path: str) -> Iterator[Finding]:
    """Find mistakes in settings that were read from the file at `path`."""
    finding = partial(problem, path=path, table="")
    tables = settings.get("projects", {})
    yield from _values({key: settings[key] for key in settings if key not in {"projects", setting.KEY_TABLE}}, finding)
    for name, why in setting.key_problems(settings):
        prefix = "" if name == setting.KEY_TABLE else "[keys] "
        yield finding("config.keys", table=prefix, key=name, why=why if why[-1] in "?." else why + ".")
    for place, table in tables.items() if isinstance(tables, dict) else [("", tables)]:
        finding = partial(problem, path=path, table=f'[projects."{place}"] ')
        own_table = table if isinstance(table, dict) else {}
        if own_table is not table or not place.startswith("/") or paths_hot.project_root(place) != place:
            yield finding("config.no_project")
        alone = own_table.keys() & config_hot.DEFAULTS.keys() - set(config_hot.PER_PROJECT)
        yield from (finding("config.not_own", key=key) for key in own_table if key in alone)
        yield from _values({key: own_table[key] for key in own_table if key not in alone}, finding)


def _values(settings: dict[str, object], finding: Callable[..., Finding]) -> Iterator[Finding]:
    """Find keys that are no setting, and values that are not valid."""
    for key, value in settings.items():
        if key not in config_hot.DEFAULTS:
            close = close_to(key, config_hot.DEFAULTS)
            yield finding("config.misspelt", key=key, meant=close[0]) if close else finding("config.unknown", key=key)
        elif (why := config_hot.problem(key, value)) is not None:
            yield finding("config.value", key=key, why=why, given=repr(value))


def inboxes(root: str, names: Iterable[tuple[str | None, str]], now: float) -> Iterator[Finding]:
    """Find unreadable inboxes, undeliverable notes, unsettled claims; `names` by slug, None for the global one."""
    for slug, name in names:
        for finding in _inbox(root, slug, now):
            yield finding._replace(data={**finding.data, "inbox": name})


def _inbox(root: str, slug: str | None, now: float) -> Iterator[Finding]:
    directory, budget = paths_hot.inbox_dir(root, slug), config_hot.number(config_hot.load(root), "budget")
    unread: list[Finding] = []
    waiting_in(root, [slug], unread=unread)
    yield from unread
    notes = f"{directory}/{format_hot.FILES['guidance']}"
    if not any(finding.data["path"] == notes for finding in unread):
        for entry in format_hot.read(notes):
            yield from islice(undelivered.problems(entry, directory, now, budget), 1)
            yield from secret(entry)
    for file, delivery_id, _, _ in file_hot.claimed(directory):
        path = f"{directory}/{format_hot.CLAIMED}/{file}"
        try:
            fs_hot.read(path, "claim")
        except FileNotFoundError:
            continue
        except OSError as error:
            yield problem("inbox.claim_unread", path=path, why=error.strerror)
            continue
        if now - (ids_hot.id_time(delivery_id) or now) > CLAIM_SECONDS:
            yield problem("inbox.unproven", delivery=delivery_id, path=path)


def secret(entry: format_hot.Entry) -> Iterator[Finding]:
    """Find what looks like a secret in a note; memtui itself warns of it before it leaves a note with `from`."""
    if not entry.fields.get("from") and (kinds := redact.kinds_in(entry.text)):
        yield problem("inbox.secret", f"note:{entry.id}", id=entry.id[-6:], kinds=redact.described(kinds), inbox="")


def memories(root: str, scope: scopes.Scope, memories: Iterable[Memory]) -> Iterator[Finding]:
    """Find which of the memories of a scope are broken, and what in its index does not match."""
    if scope.problem:
        yield problem("memories.scope", scope=scope.shown, path=scope.directory, why=scope.problem)
        return
    if scope.kind == "instructions" or not scope.exists:
        return
    every = [*memories]
    targets = LinkTargets(every)
    broken: dict[object, Finding] = {}  # by what they link to: many memories can link to one that is gone
    for memory in every:
        for finding in status.of_memory(scope, memory, targets):
            if finding.code not in status.LINKS:
                yield finding
            elif (before := broken.get(finding.data["link"])) is not None:
                cast("list[str]", before.data["files"]).append(memory.stem)
            else:
                broken[finding.data["link"]] = finding
    yield from broken.values()
    yield from IndexState(root, scope, index_of(scope)).findings()


def trust(root: str, every: Iterable[scopes.Scope]) -> Iterator[Finding]:
    """Find memories that are not delivered because they are not trusted, and a trust file that can't be read."""
    path = trust_hot.path(root)
    data = fs_hot.read_or_empty(path)
    if data.strip() and not isinstance(fastjson_hot.loads_dict(data).get("dirs"), dict):
        yield problem("trust.unreadable", path=path)
    for scope in every:
        if waiting := status.not_trusted(root, scope):
            yield status.trust_waiting(scope, waiting)
