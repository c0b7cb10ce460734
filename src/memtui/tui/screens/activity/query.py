"""The query of Activity: `words session:ID project:NAME kind:notes memory:NAME is:lost`, as a filter of deliveries."""

from memtui.core.deliveries import receipts
from memtui.core.deliveries.filter import LOST, Filter
from memtui.present import query
from memtui.present.deliveries import KIND_WORD, LABELS

FIELDS = {"session": "session", "project": "project", "kind": "kind", "memory": "memory", "is": "outcome"}
KINDS = {word: kind for kind, word in KIND_WORD.items()}
STATES = {LOST: LOST, **{outcome.replace(" ", "-"): outcome for outcome in receipts.GLYPHS}}
IS_LOST = f"is:{LOST}"


def parse(text: str) -> Filter:
    """Return the filter that a query means. Raises ValueError, with what can stand there, for a value of `is:` or
    `kind:` that means nothing."""
    found = query.parse(text, FIELDS)
    terms = {FIELDS[name]: _known(name, value) for name, value in found.terms.items()}
    return Filter(labels=LABELS).but(**terms, text=found.words)


def _known(name: str, value: str) -> str:
    known = {"is": STATES, "kind": KINDS}.get(name)
    if known is None:
        return value
    if value.lower() not in known:
        raise ValueError(query.not_among(name, known))
    return known[value.lower()]
