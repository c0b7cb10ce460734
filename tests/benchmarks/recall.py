"""How good recall is: whether the memories that help with a prompt are found, and whether only those are injected.

    python tests/benchmarks/recall.py                             the set in tests/data/recall
    python tests/benchmarks/recall.py SET --memories DIR --triggers FILE
    python tests/benchmarks/recall.py SET --output ranking.jsonl
    python tests/benchmarks/recall.py --kinds --misses            by kind of prompt, and what was missed

Of each set it prints hit@1, hit@5 and MRR over the prompts that have a right answer: of BM25 alone, of 0.7 cosine + 0.3
BM25, and of recall itself, without triggers and with them. Then the injection as the hook would do it: the share of
injected memories that help (precision), of the answerable prompts that got one that helps (answered), and of the others
that got nothing (silent). `recall_sets.py` says which files it takes.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "src"), HERE]

import recall_sets  # noqa: E402
from recall_sets import Query, RecallSet  # noqa: E402

from memtui.recall import (  # noqa: E402
    judge_hot,
    query_hot,
    vectors_hot,
)
from memtui.recall.index_build import bring_up_to_date  # noqa: E402

OWN = os.path.join(HERE, "..", "data", "recall")
SCOPE = "global"
# Hits that a ranking has, and that the baselines rank anew.
MOST = 50


@dataclass
class Answer:
    """What was found for a prompt, the best first; `injected`: the paths that the hook would inject."""

    query: Query
    hits: list[query_hot.Hit]
    injected: list[str]

    def by(self, key: Callable[[query_hot.Hit], float]) -> "Answer":
        """Return the same hits ranked by something else."""
        return Answer(self.query, sorted(self.hits, key=key, reverse=True), self.injected)

    @property
    def first(self) -> int:
        """The rank of the first memory that helps, from 1; 0 if there is none."""
        return next((at for at, hit in enumerate(self.hits, 1) if hit.file in self.query.gold), 0)


def answers(chosen: RecallSet, with_triggers: bool) -> list[Answer]:
    """Index the memories of a set in a temporary folder, and ask for each prompt."""
    with tempfile.TemporaryDirectory(prefix="memtui-recall-") as folder:
        root = folder + "/data"
        os.makedirs(root + "/recall", mode=0o700)
        places = chosen.write(folder + "/stores", with_triggers)
        table = vectors_hot.Table(os.path.join(os.path.dirname(vectors_hot.__file__), "vectors.table"))
        for directory in places.values():
            bring_up_to_date(root, directory, table=table)
        found = []
        for query in chosen.queries:
            asked = [(SCOPE, places[query.store])]
            hits = query_hot.search(root, asked, query.text, most=MOST)
            found.append(Answer(query, hits, injected(root, query.text, asked)))
        return found


def injected(root: str, text: str, places: Sequence[tuple[str, str]]) -> list[str]:
    """Return the paths that the hook would inject."""
    outcome = judge_hot.dry_run(root, text, places)
    return [verdict.hit.file for verdict in outcome.verdicts if verdict.outcome == "inject"]


def scaled(found: Answer) -> Answer:
    """Return the hits ranked by 0.7 cosine + 0.3 BM25, each divided by the best of the prompt."""
    lexical = max((hit.lexical for hit in found.hits), default=0.0) or 1.0
    cosine = max((hit.cosine for hit in found.hits), default=0.0) or 1.0
    return found.by(lambda hit: 0.7 * hit.cosine / cosine + 0.3 * hit.lexical / lexical)


def figures(found: Iterable[Answer]) -> str:
    """Return hit@1, hit@5 and MRR of the prompts that have a right answer, as text."""
    ranks = [each.first for each in found if each.query.gold]
    if not ranks:
        return "no prompts"
    number = len(ranks)
    return (
        f"hit@1 {sum(rank == 1 for rank in ranks) / number:.3f}  hit@5 {sum(0 < rank <= 5 for rank in ranks) / number:.3f}"
        f"  MRR {sum(1 / rank for rank in ranks if rank) / number:.3f}  ({number})"
    )


@dataclass
class Injection:
    """Counts of an injection: memories, those of them that help, and prompts."""

    prompts: int
    sent: int
    right: int
    answerable: int
    answered: int
    others: int
    silent: int

    def __str__(self) -> str:
        return (
            f"precision {share(self.right, self.sent)}  answered {share(self.answered, self.answerable)}"
            f"  silent {share(self.silent, self.others)}  memories a prompt {self.sent / max(1, self.prompts):.2f}"
        )


def share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def injection(found: Sequence[Answer]) -> Injection:
    """Count what was injected, and what of it helps."""
    rows = [(each.query.gold, each.injected) for each in found]
    right = [sum(path in gold for path in sent) for gold, sent in rows]
    return Injection(
        len(rows),
        sum(len(sent) for _, sent in rows),
        sum(right),
        sum(bool(gold) for gold, _ in rows),
        sum(number > 0 for number in right),
        sum(not gold for gold, _ in rows),
        sum(not gold and not sent for gold, sent in rows),
    )


def report(found: Sequence[Answer], title: str, kinds: bool) -> None:
    """Print the figures of a set."""
    print(f"{title}")
    print(f"  {'BM25 alone':22} {figures(each.by(lambda hit: hit.lexical) for each in found)}")
    if any(hit.cosine for each in found for hit in each.hits):
        print(f"  {'.7 cosine + .3 BM25':22} {figures(map(scaled, found))}")
    print(f"  {'recall':22} {figures(found)}")
    print(f"  {'injection':22} {injection(found)}")
    if kinds:
        for kind in sorted({each.query.kind for each in found}):
            of_kind = [each for each in found if each.query.kind == kind]
            line = figures(of_kind) if kind != "none" else ""
            print(f"    {kind:20} {line}  {injection(of_kind)}")


def misses(found: Iterable[Answer]) -> None:
    """Print the prompts whose first hit does not help."""
    for each in found:
        if each.query.gold and each.first != 1:
            best = each.hits[0].file if each.hits else "nothing"
            print(f"    {each.first or '-':>3} {each.query.kind:12} {each.query.text[:90]!r}")
            print(f"        wanted {next(iter(each.query.gold))}, got {best}")


def row_of(chosen: RecallSet, found: Answer, with_triggers: bool) -> dict[str, object]:
    """Return a line of the output: the ranking of a prompt with all that speaks for each hit."""
    parts = ("lexical", "share", "cosine", "overlap", "score", "margin")
    return {
        "set": chosen.name,
        "triggers": with_triggers,
        "store": found.query.store,
        "kind": found.query.kind,
        "text": found.query.text,
        "gold": found.query.gold,
        "first": found.first,
        "ranking": [
            {"path": hit.file, **{part: round(getattr(hit, part), 4) for part in parts}} for hit in found.hits[:20]
        ],
        "injected": found.injected,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    usage, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=usage, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help="a folder or file; else the set in tests/data/recall")
    parser.add_argument("--memories", default="", metavar="DIR", help="the folder that has a folder for each store")
    parser.add_argument("--triggers", default="", metavar="FILE", help="JSON Lines of trigger lines")
    parser.add_argument("--output", default="", metavar="FILE", help="write the ranking of each prompt as JSON Lines")
    parser.add_argument("--kinds", action="store_true", help="also by kind of prompt")
    parser.add_argument("--misses", action="store_true", help="also the prompts whose first hit does not help")
    given = parser.parse_args(arguments)
    rows = []
    for path in given.sets or [OWN]:
        try:
            chosen = recall_sets.read(path, given.memories, given.triggers)
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"skipped: {path}: {error}", file=sys.stderr)
            continue
        number = sum(len(files) for files in chosen.stores.values())
        print(f"{chosen.name}: {number} memories in {len(chosen.stores)} stores, {len(chosen.queries)} prompts")
        for with_triggers in (False, True) if chosen.triggers else (False,):
            found = answers(chosen, with_triggers)
            report(found, "with triggers" if with_triggers else "without triggers", given.kinds)
            if given.misses:
                misses(found)
            rows += [row_of(chosen, each, with_triggers) for each in found]
    if given.output:
        with open(given.output, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
