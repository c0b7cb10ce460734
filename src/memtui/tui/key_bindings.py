"""Actions of the table as Textual's bindings."""

from textual.binding import Binding

from memtui import actions


def bound(keys: str) -> str:
    """Those of some keys that are ours to bind: ctrl+q is Textual's, and works in forms as well."""
    return ",".join(key for key in keys.split(",") if key != "ctrl+q")


def elsewhere(action_id: str, method: str) -> Binding:
    """A binding of a dialog that the keys of an action have there as well."""
    return Binding(bound(actions.get(action_id).keys), method, show=False, id=action_id)


def bindings(group: str) -> list[Binding]:
    """Textual bindings for the actions of a group. Each has the action's id, for the key map of the application."""
    return [
        Binding(bound(a.keys), f"app.run('{a.id}')", a.footer or a.verb, show=False, id=a.id, tooltip=a.help)
        for a in actions.of(group)
    ]
