"""A coding agent as its hooks and the readers of its sessions see it. Claude Code's ways are the defaults; a class of
`client/agents/NAME_hot.py` says where another agent differs. Hot path."""

import posix

from memtui.base import fastjson_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Record = dict[str, object]


class Agent:
    """Claude Code. `name`: in commands, logs and addresses of notes; `title`: for people; `cap`: the most UTF-16 units
    of one hook's context that arrive whole, 0 for no cap but the setting `budget`; `silent`: events whose context the
    agent drops, or puts where no session file shows it. What a start would bring comes with the prompt after it then,
    and what a tool would bring before it, after it."""

    name = "claude"
    title = "Claude Code"
    cap = 0
    # Whether a hook can have it ask the person before a tool runs.
    can_ask = True
    silent: "tuple[str, ...]" = ()
    # Whether a start, with the source `compact`, follows a compaction.
    announces_compaction = True
    has_lines = True  # whether a session is a file of JSON lines, and its offsets are bytes

    def read(self, event: str, payload: "Record", env: "dict[str, str]") -> "Record | None":
        """Return a hook's payload in Claude Code's terms; None if memtui has nothing to say to this run."""
        return payload

    def answer(self, event: str, context: str, message: str, refusal: str, decision: str) -> str:
        """Return what a hook prints: `context` for the model, a `message` for the person, why a tool is refused, and
        the `decision` on it; empty for nothing."""
        answer: dict[str, object] = {}
        output = {"additionalContext": context} if context else {}
        if refusal:
            output |= {"permissionDecision": decision, "permissionDecisionReason": refusal}
        if output:
            answer["hookSpecificOutput"] = {"hookEventName": event, **output}
        if message:
            answer["systemMessage"] = message
        return fastjson_hot.dumps(answer) if answer else ""

    def is_personal(self, payload: "Record", env: "dict[str, str]") -> bool:
        """Tell whether a person runs the session; Claude Code says so in its environment (hooks/environment_hot.py)."""
        return True

    def owns(self, path: str) -> bool:
        """Tell by the path alone whether a file is one of the agent's sessions."""
        parts = path.rsplit("/", 3)
        return "/subagents/" in path or (len(parts) == 4 and parts[1] == "projects")

    def places(self, path: str) -> "list[str]":
        """List where a session file is now, if the agent moved it from `path`."""
        return []

    def cut_off(self, path: str, records: "list[Record]") -> "set[str]":
        """Return the ids among records of the delivery log that a session no longer has in its history, since it goes
        on from an earlier place in a new file."""
        return set()

    def status(self, path: str) -> "tuple[int, float]":
        """Return a session file's size, the end of its offsets, and last change since the epoch. Raises OSError."""
        status = posix.stat(path)
        return status.st_size, status.st_mtime

    def tail(self, path: str, size: int) -> int:
        """Return an offset with `size` bytes of a session behind it, or 0, of one that is no lines. Raises OSError."""
        return 0

    def session_id(self, path: str) -> str:
        """Return the session that a file belongs to."""
        return path[path.rfind("/") + 1 :].removesuffix(".jsonl")

    def has_known_format(self, path: str) -> bool:
        """Tell whether a session file says what became of hooks' texts as the versions do that were tested."""
        return True

    def rows(self, path: str, start: int, limit: "int | None") -> "Iterator[tuple[Record, int]] | None":
        """Yield the raw records of a session from the offset `start` on, each with the offset behind it; None for a
        file of JSON lines, which the caller reads."""
        return None

    def translator(self) -> "Callable[[Record, int], list[Record]]":
        """Return a function that makes of a raw record, and the offset behind it, records as Claude Code writes them
        (client/agents/records_hot.py). It is called in order, for one reading, which may begin anywhere."""
        return lambda record, _: [record]

    def translator_of(self, path: str) -> "Callable[[Record, int], list[Record]]":
        """Return the translator for a session file, whose path or beginning may say what its records do not."""
        return self.translator()


AGENT = Agent()
