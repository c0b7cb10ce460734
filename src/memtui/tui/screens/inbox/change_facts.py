"""What is known of a change in the inbox: what it changes, whether it can be made, and what it loses."""

from dataclasses import dataclass

from memtui.consolidate.changeset import Proposal
from memtui.consolidate.composing import Weighed
from memtui.tui.screens.inbox.row import InboxRow


@dataclass(frozen=True)
class ChangeFacts(InboxRow):
    """A change that is proposed, with the name of its scope. `key` is the same for what is proposed about the same
    files when it is planned again. `by` made it; `file` is its saved ChangeSet, empty if it was planned now. `weighed`
    is None until it was weighed; `stale`: a file that it read has changed since."""

    change: Proposal | None = None
    place: str = ""
    by: str = ""
    file: str = ""
    weighed: Weighed | None = None
    stale: bool = False

    @property
    def proposal(self) -> Proposal:
        """The change."""
        assert self.change is not None
        return self.change

    @property
    def id(self) -> str:
        """The id of the change."""
        return self.proposal.id

    @property
    def why_not(self) -> str:
        """The reason code why it can't be made, as `Refused` has it; empty if it can."""
        if self.stale:
            return "stale"
        refused = self.weighed.refused if self.weighed is not None else None
        return refused.reason if refused is not None else ""

    @property
    def safe(self) -> bool:
        """Whether nobody needs to decide about it."""
        return self.weighed is not None and self.weighed.safe and not self.stale

    @property
    def drops(self) -> bool:
        """Whether it loses something: a statement, or a memory that nothing replaces."""
        covered = self.weighed.coverage if self.weighed is not None else None
        return (covered is not None and bool(covered.lost)) or self.proposal.kind in {"delete", "archive"}
