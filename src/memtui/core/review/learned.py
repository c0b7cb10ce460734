"""The files of what a person's decisions on drafts taught, and the figures in them, for those who write and who show
them."""

from collections.abc import Mapping


def decisions_path(root: str) -> str:
    """Return the file of decisions."""
    return root + "/feedback/decisions.json"


def drafts_path(root: str) -> str:
    """Return the file of the drafts that can be decided on, as the classifier saw them."""
    return root + "/feedback/drafts.jsonl"


def read_path(root: str) -> str:
    """Return the file with the stamp of the journal as it was read last for decisions."""
    return root + "/run/decided"


def weights_path(root: str) -> str:
    """Return the file of what follows from them."""
    return root + "/feedback/weights.json"


def figures_of(found: Mapping[str, object]) -> dict[str, tuple[float, float]]:
    """Return average precision on the validation figures by question, shipped and as it is now, from the file of what
    follows."""
    given = found.get("figures")
    return {
        str(name): (float(row[0]), float(row[1]))
        for name, row in (given.items() if isinstance(given, dict) else ())
        if isinstance(row, list) and len(row) == 2 and all(isinstance(each, (int, float)) for each in row)
    }
