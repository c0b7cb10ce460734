"""Search as plainly as it can be written: every memory is read and scored, for each prompt. What the index is compared
with."""

import math
import os

from memtui.recall import fields, index_build, query


class Reference:
    """The memories of directories, in lists of terms by what these count."""

    def __init__(self, directories):
        self.docs = {}
        for directory in directories:
            found = {}
            for folder, _, names in os.walk(directory):
                for name in names:
                    path = os.path.join(folder, name)
                    if name.endswith(".md") and name != "MEMORY.md":
                        with open(path, "rb") as file:
                            found[path] = fields.read(file.read(), os.path.relpath(path, directory)).weights()
            lengths = [sum(each.values()) for each in found.values()]
            average = sum(lengths) / len(lengths)
            self.docs |= {path: (weights, sum(weights.values()) / average) for path, weights in found.items()}

    def idf(self, term):
        count = sum(term in weights for weights, _ in self.docs.values())
        return math.log(1 + (len(self.docs) - count + 0.5) / (count + 0.5))

    def search(self, text, most=5):
        """The best memories by BM25, as (score, path)."""
        terms = query.weighted_terms(text)
        idf = {term: weight * self.idf(term) for term, weight in terms.items()}
        found = []
        for path, (weights, length) in self.docs.items():
            norm = index_build.K1 * (1 - index_build.B + index_build.B * length)
            parts = [
                idf[term] * (index_build.K1 + 1) * weights[term] / (weights[term] + norm)
                for term in terms
                if term in weights
            ]
            if parts:
                found.append((sum(parts), path))
        return sorted(found, reverse=True)[:most]
