"""Textual bindings made from the table of actions."""

from textual.binding import Binding

from memtui import actions

# A name that no key has, for actions without a key: a key map can give them one.
UNBOUND = "none"


def bound(keys: str) -> str:
    """Return `keys` (separated by commas) without ctrl+q: Textual binds that itself, and it works in forms as well."""
    return ",".join(key for key in keys.split(",") if key != "ctrl+q")


def elsewhere(action_id: str, method: str) -> Binding:
    """Return a binding for a dialog that gives an action's keys to a `method` of the dialog."""
    return Binding(bound(actions.get(action_id).keys), method, show=False, id=action_id)


def bindings(group: str) -> list[Binding]:
    """Return bindings for the actions of a group. Each has the action's id, for the key map of the application."""
    return [
        Binding(bound(a.keys) or UNBOUND, f"app.run('{a.id}')", a.footer or a.verb, show=False, id=a.id, tooltip=a.help)
        for a in actions.of(group)
    ]
