"""Full-text search: how well a memory answers some words."""

from memtui.core.memory import Memory


def words_of(query: str) -> list[str]:
    """The words of a query, as `rank` wants them."""
    return query.lower().split()


def rank(words: list[str], found: Memory) -> tuple[float, str]:
    """How well a memory answers some words, and the line of its body that does best. 0: a word is nowhere.

    A word counts most in the name, then in the description, least in the body; one that is nowhere may be a slightly
    different word of the name or description.
    """
    import difflib

    name, description, body = (
        found.name.lower() + " " + found.stem.lower(),
        found.description.lower(),
        found.body.lower(),
    )
    score = 0.0
    for word in words:
        here = 4.0 * (word in name) + 2.0 * (word in description) + min(body.count(word), 3) * 0.5
        if not here:
            near = [w for w in (name + " " + description).replace("-", " ").split() if abs(len(w) - len(word)) < 3]
            here = 1.0 if len(word) > 3 and difflib.get_close_matches(word, near, 1, 0.75) else 0.0
        if not here:
            return 0.0, ""
        score += here
    lines = [each.strip() for each in found.body.split("\n")]
    best = max(lines, key=lambda each: sum(word in each.lower() for word in words), default="")
    return score / len(words), best if any(word in best.lower() for word in words) else ""
