"""The choice of what to trust in a repository's memories. The bytes that were shown are trusted, whatever the files
hold by then."""

from collections.abc import Sequence

from rich.text import Text

from memtui import actions
from memtui.base.phrasing import many, some
from memtui.store import trust, trusting
from memtui.tui.dialogs.ask import difference
from memtui.tui.model.data import Data
from memtui.views import safe_text

LEAVE, THESE, NO_MORE, ALL, ALWAYS, ONLY, NOTHING = "", "these", "no more", "all", "always", "only", "nothing"
# The characters that are shown of a memory.
SHOWN = 20_000


class Trusting:
    """The choice, for the memories in `directory`. `chosen` are the marked ones, or the one under the cursor, as
    relative paths. Raises MemtuiError."""

    def __init__(self, data: Data, directory: str, chosen: Sequence[str]) -> None:
        self.data, self.directory = data, directory
        self.contents = trusting.read(directory)
        trusted = trust.load(data.root, directory)
        self.always = trusted.always
        self.trusted = [name for name, text in self.contents.items() if trusted.allows(text)]
        self.open = [name for name in self.contents if name not in self.trusted]
        self.these = [name for name in chosen if name in self.open]
        self.no_more = [] if trusted.always else [name for name in chosen if name in self.trusted]
        count = f"{len(self.trusted)} of {many(len(self.contents), 'memory', 'memories')}"
        self.title = f"{count} here {'is' if len(self.trusted) == 1 else 'are'} trusted: sessions get those"
        rows: list[tuple[str, str]] = []
        if self.these:
            rows.append((THESE, f"Trust {_names(self.these)} as shown below"))
        rows.append((LEAVE, "Change nothing"))
        if self.no_more:
            rows.append((NO_MORE, f"Stop trusting {_names(self.no_more)}"))
        if self.open and self.these != self.open:
            rows.append((ALL, f"Trust all the others: {_names(self.open)}"))
        if trusted.always:
            rows.append((ONLY, "Trust only the present versions"))
        else:
            rows.append((ALWAYS, "Trust all future versions without asking"))
        rows.append((NOTHING, "Stop trusting everything here"))
        self.entries = rows
        self.current = THESE if self.these else LEAVE

    def about(self, answer: str) -> Text:
        """Return what an option would trust: the texts, or what changed in them since they were trusted."""
        names = {THESE: self.these, ALL: self.open, NO_MORE: self.no_more}.get(answer, [])
        text = Text("" if names else MEANINGS.get(answer, ""), "" if names else "dim")
        trusted = trust.load(self.data.root, self.directory)
        for name in names:
            was = trusting.earlier(self.data.root, trusted, name) if answer != NO_MORE else None
            now = self.contents[name]
            text.append(safe_text.line(name, 200), "bold")
            if was is not None and was != now:
                text.append("  changed since it was trusted: - as trusted  + now\n", "dim")
                text.append_text(difference(was, now, ("the trusted text", "the text now")))
            else:
                content = now.decode("utf-8", "replace")
                body = safe_text.clean(content[:SHOWN].rstrip("\n"))
                text.append(f"\n{body}")  # as the agent gets it, Markdown not drawn
                if len(content) > SHOWN:
                    more = f"{len(content) - SHOWN:,} more characters are not shown"
                    opens = actions.keyed("{memories.editor} in Memories opens the file")
                    text.append(f"\n… {more}: {opens}", "yellow")
            text.append("\n\n")
        return text

    def do(self, answer: str) -> object:
        root, now = self.data.root, self.data.now
        if answer in {NO_MORE, NOTHING}:
            names = self.no_more if answer == NO_MORE else None
            return trusting.revoke(root, self.directory, names, by="tui", now=now)
        contents = {name: self.contents[name] for name in {THESE: self.these, ALL: self.open}.get(answer, [])}
        if answer == ONLY:
            contents = self.contents
        return trusting.grant(
            root, self.directory, contents, {ALWAYS: True, ONLY: False}.get(answer), by="tui", now=now
        )

    def done(self, answer: str) -> str:
        words = {
            THESE: f"Trusted from now on: {_names(self.these)}.",
            ALL: f"Trusted from now on: {_names(self.open)}.",
            NO_MORE: f"No longer trusted: {_names(self.no_more)}.",
            ALWAYS: "All memories of this repository are trusted, future versions too.",
            ONLY: "Only the present versions are trusted.",
            NOTHING: "Nothing here is trusted now.",
        }
        return f"{words[answer]} {actions.takes_back()}"


MEANINGS = {
    LEAVE: "Memories that came with a repository are delivered to the agent only as you trusted them, byte for byte.",
    ALWAYS: "Only for a repository of your own: everybody who can write to it can instruct your agent.",
    ONLY: "What changes later waits until you trust it again.",
    NOTHING: "None of this repository's memories is delivered until you trust it again.",
}


def _names(names: Sequence[str]) -> str:
    return some([safe_text.line(name.removesuffix(".md"), 60) for name in names])
