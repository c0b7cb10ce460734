"""The key map: the table `[keys]` in config.toml, keys of the person's own for actions: `"memories.edit" = "E"`."""

import re
import string
import unicodedata
from collections.abc import Iterator, Mapping

from memtui import actions

TABLE = "keys"
EVERYWHERE = frozenset({"app", "list"})
NAMED = re.compile(r"f\d\d?|enter|escape|tab|space|backspace|delete|insert|home|end|pageup|pagedown|up|down|left|right")
MODIFIED = re.compile(r"(?:(?:ctrl|shift|alt|super|hyper|meta)\+)*")
# Textual's names for characters that Unicode names otherwise.
SHORTER = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}


def _name(char: str) -> str:
    """Return Textual's name for the key of a character."""
    if char.isalnum():
        return char
    name = unicodedata.name(char, char).lower().replace("-", "_").replace(" ", "_")
    return SHORTER.get(name, name)


SIGNS = frozenset(map(_name, string.punctuation))


def each(keys: str) -> list[str]:
    """Split `q, ctrl+q` into the names of its keys."""
    return [_name(key) if len(key) == 1 else key for key in (part.strip() for part in keys.split(","))]


def problem(keys: object) -> str | None:
    """Say what is wrong with the keys set for an action; None if nothing is."""
    if not isinstance(keys, str) or not keys.strip():
        return 'must be keys, such as "x" or "x,ctrl+x"'
    for key in each(keys):
        rest = MODIFIED.sub("", key, 1)
        if not (len(rest) == 1 or NAMED.fullmatch(rest) or rest in SIGNS):
            return f"has “{key}”, which is not a key. Keys are x, ctrl+x, slash, question_mark, space, f5"
    return None


def written(settings: Mapping[str, object]) -> dict[str, object]:
    """Return what config.toml sets for each action id; `"app.quit" = …` and `app.quit = …` mean the same."""
    table = settings.get(TABLE)
    return dict(flat(table)) if isinstance(table, dict) else {}


def flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values of a table, and of those in it, by their dotted path."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def remapped(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the keys set for each action id, without those that are invalid."""
    return {name: keys for name, keys in written(settings).items() if isinstance(keys, str) and problem(keys) is None}


def problems(settings: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield (action id, what is wrong) for unknown actions, unknown keys, and keys that two actions share."""
    import difflib

    default_keys = actions.defaults()
    table = settings.get(TABLE, {})
    if not isinstance(table, dict):
        yield TABLE, 'must be a table, such as [keys] "app.quit" = "Q".'
        return
    for name, keys in written(settings).items():
        if name not in default_keys:
            close = difflib.get_close_matches(name, default_keys, 1)
            hint = f". Did you mean {close[0]}?" if close else ". `memtui config list --keys` lists them."
            yield name, "is not an action" + hint
        elif (why := problem(keys)) is not None:
            yield name, f"{why}. The default is used: {default_keys[name]}."
    yield from _shared(remapped(settings), default_keys)


def _shared(own: Mapping[str, str], default_keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the problem of each key of `own`, the remapped actions, that another action of the screen has too."""
    in_force = {name: each(own.get(name, keys)) for name, keys in default_keys.items()}
    for name in own:
        for key in in_force.get(name, ()):
            for other, keys in in_force.items():
                groups = {name.partition(".")[0], other.partition(".")[0]}
                if other == name or key not in keys or len(groups - EVERYWHERE) > 1:
                    continue
                if other not in own or name < other:  # where both are remapped, one report is enough
                    yield name, f"has {key}, as {other} has; only one of them works"
