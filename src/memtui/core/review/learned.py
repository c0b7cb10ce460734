"""The files of what a person's decisions on drafts taught, and the figures in them, for those who write and who show
them."""

from collections.abc import Mapping


def decisions_path(root: str) -> str:
    """Return the file of decisions."""
    return root + "/feedback/decisions.json"


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
