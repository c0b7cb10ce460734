"""What each term of a prompt adds to the points of a memory, which query.py adds up for all terms at once. Cold: only a
dry run that a person looks at imports this."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from memtui.recall import query
from memtui.recall import segment as segments


class TermPoints(NamedTuple):
    """What a term adds: `points` of BM25, and how much it weighs among the memories that were searched (`idf`)."""

    points: float
    idf: float


def of_memories(
    root: str, places: Sequence[tuple[str, str]], text: str, wanted: Collection[tuple[str, str]]
) -> dict[tuple[str, str], dict[str, TermPoints]]:
    """Return what the terms of a text add, for the memories `wanted`, each (directory, file). `places`: (scope,
    directory), as for `query.search`."""
    asked = query.weighted_terms(text)
    numbers = [(term, segments.number_of(term.encode("utf-8", "surrogatepass"))) for term in asked]
    parts = [part for scope, directory in places for part in query.opened(root, scope, directory)] if wanted else []
    counts, total = dict.fromkeys(asked, 0), 0
    there: list[tuple[query.IndexPart, int, tuple[str, str]]] = []
    found: dict[tuple[str, str], dict[str, TermPoints]] = {}
    try:
        for part in parts:
            dead = part.segment.dead
            try:
                query.look_up(part, numbers)
                rows = [(part.directory, str(row[0])) for row in part.segment.every_row()]
            except segments.DAMAGED:
                continue
            there += [(part, doc, each) for doc, each in enumerate(rows) if each in wanted and doc not in dead]
            total += part.segment.number - len(dead)
            for term, posting in part.postings.items():
                counts[term] += posting.living(dead)
        for part, doc, each in there:
            for term, posting in part.postings.items():
                if impact := posting.impact(doc):
                    idf = query.rarity(total, counts[term]) * asked[term]
                    found.setdefault(each, {})[term] = TermPoints(query.SCALE * impact * idf, idf)
    finally:
        for part in parts:
            part.segment.close()
    return found
