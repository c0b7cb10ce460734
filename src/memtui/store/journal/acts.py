"""The words for what a person does, one word an act: keys, the list of changes and the answers of commands say them."""

# What a person does who rejects what others wrote: its operations in the journal are `delete` or `restore`.
REJECTS = "take-back"
# Begins the summary of a rejection for good that follows a rejection.
NEVER = "never"
# By the operation in the journal, or REJECTS: what the list of changes calls
# it (`{}` is what it is about), and what is said once it is done.
ACTS = {
    "create": ("create {}", "created"),
    "approve": ("approve {}", "approved"),
    "consolidate": ("approve {}", "approved"),
    "reject": ("reject {}", "rejected"),
    REJECTS: ("reject the change to {}", "rejected a change"),
    "keep": ("keep {}", "kept"),
    "trust": ("trust {}", "trusted"),
    "untrust": ("revoke trust in {}", "not trusted any more"),
    "done": ("mark {} done", "done"),
    "snooze": ("hide {}", "later"),
    "withdraw": ("withdraw {}", "withdrawn"),
    "edit": ("edit {}", "edited"),
    "triggers": ("change triggers of {}", ""),
    "retype": ("retype {}", "type changed"),
    "rename": ("rename {}", "renamed"),
    "move": ("move {}", "moved"),
    "copy": ("copy {}", "copied"),
    "delete": ("remove {}", "removed"),
    "purge": ("delete {} for good", "deleted for good"),
    "restore": ("restore {}", "restored"),
    "lint": ("fix {}", "fixed"),
    "links": ("{}", "links followed a new name"),
    "undo": ("undo {}", "undone"),
    "redo": ("redo {}", "redone"),
}


def summary(act: str, what: str) -> str:
    """Return what the list of changes says: the words of an act, or the act itself as a verb, and what it is about."""
    return ACTS.get(act, (f"{act} {{}}", ""))[0].replace("{}", what)


def subject(act: str, words: str) -> str:
    before, _, after = summary(act, "\n").partition("\n")
    return words.removeprefix(before).removesuffix(after)


def done(act: str) -> str:
    """Return what is said once it is done: `removed`; empty for an operation that has no word."""
    return ACTS.get(act, ("", ""))[1]
