"""The sessions that memtui served, by their state files and by the delivery log; and those that are live: hooks note in
`run/client-PID` which session a client serves (hooks/forks_hot.py)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot, session_state_hot
from memtui.base.fastjson_hot import text
from memtui.client import process_hot
from memtui.client.agents import agents_hot
from memtui.client.transcripts import prompts, transcript_hot
from memtui.client.transcripts.transcript_hot import Finder, text_of
from memtui.deliver import log_hot
from memtui.deliver.log_queries import Proof
from memtui.deliver.record import CHARS_A_TOKEN, Delivery, Record, session_kind
from memtui.deliver.statistics import RecallCounter, RecallCounts, ReceiptCounts

STATE_BYTES = 1 << 20
# How many of its newest deliveries a session has the receipts of.
PROOFS = 2000
AGENT = b'"agent": "'  # a record has the key only if the session has an agent


@dataclass
class Session:
    """A session: what its state file says, the sums of its deliveries, which are noted newest first, and what it is
    about. `project`: the root of its project, or the key; `slug`: the key; `kind`: as `session_kind` returns it;
    `agent`: the coding agent's name. `client`: its client's process, as `process_hot.client` identifies it; `live`:
    that serves it now. `logged`: the time of its newest record, as the log writes it; `started`, `last`: seconds since
    the epoch, or None. `uses`: how often its agent opened or wrote a memory. `proofs`: of its newest deliveries, by
    which their receipts are looked up; `outcomes`: how many had which one. `title`, `branch`: as `prompts.About`, once
    it was `looked_up`, and then `transcript` is empty if that is gone."""

    id: str
    project: str = ""
    slug: str = ""
    cwd: str = ""
    mode: str = ""
    kind: str = ""
    agent: str = agents_hot.NAMES[0]
    client: object = None
    live: bool = False
    title: str = ""
    branch: str = ""
    started: float | None = None
    logged: str = ""
    last: float | None = None
    deliveries: int = 0
    uses: int = 0
    characters: int = 0
    ms: float = 0.0
    proofs: list[Proof] = field(default_factory=list)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    looked_up: bool = False
    transcript: str = ""
    _recalls: RecallCounter | None = None
    _is_noted: bool = False

    def note(self, delivery: Delivery) -> None:
        """Add a delivery, or a use of a memory, older than those before."""
        if not self._is_noted:
            self._is_noted = True
            self.project, self.slug = self.project or delivery.root, self.slug or delivery.project
            self.cwd, self.mode = self.cwd or delivery.cwd, self.mode or delivery.mode
            self.transcript = self.transcript or text_of(delivery.record.get("transcript"))
            self.agent = agents_hot.name_of(self.transcript)
            self.kind, self.client = session_kind(delivery.entrypoint), delivery.record.get("client")
        self.logged = max(self.logged, delivery.logged)
        self.uses += delivery.uses
        if delivery.tells_recall:
            self._recalls = self._recalls or RecallCounter()
            self._recalls.count(delivery)
        if delivery.injected:
            self.deliveries += 1
            self.characters += delivery.chars
            self.ms += delivery.ms or 0.0
            if len(self.proofs) < PROOFS:
                self.proofs.append(Proof(delivery))

    def look(self, clients: Mapping[int, str], now: float) -> None:
        """Find out whether it is live (`clients`: as `served` returns), and when it, or its transcript, changed."""
        try:
            changed = min(agents_hot.status(self.transcript)[1], now)
        except OSError:
            changed = None
        self.live = live(self.id, self.client, clients)
        self.last = max(filter(None, (clock_hot.parse(self.logged), changed)), default=None)

    def look_up(self, finder: Finder) -> None:
        if not agents_hot.exists(self.transcript):
            self.transcript = (finder.find(self.id) if self.id else None) or ""
        self.title, self.branch = prompts.about(self.transcript)
        self.looked_up = True

    @property
    def tokens(self) -> int:
        """About how many of the model's tokens it was told."""
        return self.characters // CHARS_A_TOKEN

    @property
    def recalls(self) -> RecallCounts:
        return self._recalls.total() if self._recalls is not None else RecallCounts()

    @property
    def counts(self) -> ReceiptCounts:
        """How many of its deliveries arrived, were lost, wait …"""
        return ReceiptCounts.of(self.outcomes)


def of_state(session_id: str, state: Record) -> Session:
    root, project, started = text(state, "project_root"), text(state, "project"), text(state, "started")
    session = Session(session_id, root or project, project, started=clock_hot.parse(started))
    session.cwd, session.mode, session.transcript = (text(state, key) for key in ("cwd", "mode", "transcript"))
    session.logged = started
    return session


def _ids(root: str) -> list[str]:
    """List the sessions with a state file; the names of their other files (session_state_hot.path) have a dot more."""
    stems = [name.removesuffix(".json") for name in paths_hot.names_in(root + "/sessions") if name.endswith(".json")]
    return [stem for stem in stems if "." not in stem]


def states(root: str) -> dict[str, Session]:
    sessions_by_id: dict[str, Session] = {}
    for session_id in _ids(root):
        try:
            state = fastjson_hot.loads_dict(fs_hot.read_bytes(f"{root}/sessions/{session_id}.json", STATE_BYTES))
        except OSError:
            continue
        sessions_by_id[session_id] = of_state(session_id, state)
    return sessions_by_id


def find(root: str, session_id: str) -> Session:
    """Return the session with an id, with its state and its newest delivery only."""
    session = of_state(session_id, session_state_hot.load(root, session_id).values())
    for delivery in map(Delivery, log_hot.newest_first(root, needle=session_id.encode("utf-8", "replace"))):
        if delivery.session == session_id:
            session.note(delivery)
            break
    return session


def collect(root: str, records: Iterable[Record]) -> list[Session]:
    """Return all sessions, the one with the newest record first. `records`: the delivery log, newest first."""
    sessions_by_id = states(root)
    for delivery in map(Delivery, records):
        if delivery.session:
            sessions_by_id.setdefault(delivery.session, Session(delivery.session)).note(delivery)
    return sorted(sessions_by_id.values(), key=lambda session: session.logged, reverse=True)


def meant(session_id: str, ref: str) -> bool:
    """Whether a reference is a session's id, or a beginning or end of it, in any case."""
    return session_id.lower().startswith(ref.lower()) or session_id.lower().endswith(ref.lower())


def deliveries(root: str, ref: str) -> Iterator[Delivery]:
    """Yield the deliveries to the sessions that a reference may mean, newest first."""
    records = log_hot.newest_first(root, needle=ref.lower().encode("utf-8", "replace"), fold=True)
    return (delivery for delivery in map(Delivery, records) if meant(delivery.session, ref))


CLIENT = "client-"
NOTE_BYTES = 1 << 20


def served(root: str) -> dict[int, str]:
    """Return the session that each running client on this machine serves, by the client's process id."""
    sessions: dict[int, str] = {}
    for name in paths_hot.names_in(root + "/run"):
        number = name.removeprefix(CLIENT)
        if number == name or not (number.isascii() and number.isdigit()) or not process_hot.alive(int(number)):
            continue
        note = fastjson_hot.loads_dict(fs_hot.head(f"{root}/run/{name}", NOTE_BYTES))
        session, client = note.get("session_id"), note.get("client")
        # Older notes do not identify the process further.
        if isinstance(session, str) and (client is None or process_hot.runs(client)):
            sessions[int(number)] = session
    return sessions


def live(session: str, client: object, clients: Mapping[int, str]) -> bool:
    """Tell whether a session is live. `client`: the process of its newest delivery; `clients`: as `served` returns."""
    if session in clients.values():
        return True
    # A session that began before the hooks were installed has no note; one whose client serves another now is over.
    return process_hot.runs(client) and isinstance(client, list) and client[0] not in clients


class Stranger(NamedTuple):
    """An addressee of whom nothing is known: a session or agent; `project`: that of a session of another."""

    kind: str
    name: str
    project: str = ""


def strangers(root: str, config_dir: str, addresses: Sequence[str], slug: str | None) -> list[Stranger]:
    """Return the addressees whom no note of a project (`slug`; None: of any) reaches, as far as is known."""
    unknown = []
    for address in addresses:
        kind, _, name = address.partition(":")
        if kind == "session" and (stranger := _session(root, config_dir, name, slug)) is not None:
            unknown.append(stranger)
        elif kind == "agent" and name not in agents(root):
            unknown.append(Stranger(kind, name))
    return unknown


def agents(root: str) -> set[str]:
    """Return the names of the agents in the newest part of the delivery log."""
    records = log_hot.newest_first(root, needle=AGENT, most=log_hot.WINDOW_BYTES)
    return {name for name in (Delivery(record).agent for record in records) if name}


def _session(root: str, config_dir: str, name: str, slug: str | None) -> Stranger | None:
    if ids := [session_id for session_id in _ids(root) if session_id.startswith(name)]:
        states = [session_state_hot.load(root, session_id).values() for session_id in ids]
        projects = {of_state(name, state).slug for state in states}
        if slug is None or slug in projects or "" in projects:
            return None
        return Stranger("session", ids[0], transcript_hot.text_of(states[0].get("project_root")) or min(projects))
    top = f"{config_dir}/projects"
    if any(file.startswith(name) for slug in paths_hot.names_in(top) for file in paths_hot.names_in(f"{top}/{slug}")):
        return None
    needle = f'"session_id": "{name}'.encode("utf-8", "replace")
    is_logged = next(iter(log_hot.newest_first(root, needle=needle)), None) is not None
    return None if is_logged else Stranger("session", name)
