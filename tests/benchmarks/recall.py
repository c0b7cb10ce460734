"""How good recall is: whether the memories that help with a prompt are found, and whether only those are injected.

    python tests/benchmarks/recall.py                             the set in tests/data/recall
    python tests/benchmarks/recall.py SET --memories DIR --triggers FILE
    python tests/benchmarks/recall.py SET --output ranking.jsonl
    python tests/benchmarks/recall.py --kinds --misses            by kind of prompt, and what was missed
    python tests/benchmarks/recall.py --beside REV                first the same by the sources of another revision
    python tests/benchmarks/recall.py --picture docs/recall.svg   draw how far the probabilities are right

Of each set it prints hit@1, hit@5 and MRR over the prompts that have a right answer: of BM25 alone, of 0.7 cosine + 0.3
BM25, and of recall itself, without triggers and with them. Then the injection as the hook would do it: the share of
injected memories that help (precision), of the answerable prompts that got one that helps (answered), and of the others
that got nothing (silent); the share of everyday prompts that got one; and how many of the memories helped that were said
to help with so much probability, everyday prompts as half of it all. `recall_sets.py` says which files it takes.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.environ.get("MEMTUI_SOURCES", os.path.join(HERE, "..", "..", "src")), HERE]

import recall_sets  # noqa: E402
import revision  # noqa: E402
from recall_sets import Query, RecallSet  # noqa: E402

from memtui.recall.index_build import bring_up_to_date  # noqa: E402


def module(name: str) -> Any:
    """Return a module of recall, which in an earlier revision has a name without _hot."""
    try:
        return importlib.import_module(f"memtui.recall.{name}_hot")
    except ImportError:
        return importlib.import_module(f"memtui.recall.{name}")


judge_hot, query_hot, vectors_hot = module("judge"), module("query"), module("vectors")

OWN = os.path.join(HERE, "..", "data", "recall")
SCOPE = "global"
# Hits that a ranking has, and that the baselines rank anew.
MOST = 50


@dataclass
class Answer:
    """What was found for a prompt, the best first; `injected`: the paths that the hook would inject; `said`: how likely
    each memory that was judged helps, and whether it does."""

    query: Query
    hits: list[Any]
    injected: list[str]
    said: list[tuple[float, bool]] = field(default_factory=list)

    def by(self, key: Callable[[Any], float]) -> "Answer":
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
            verdicts = judge_hot.dry_run(root, query.text, asked).verdicts
            injected = [verdict.hit.file for verdict in verdicts if verdict.outcome == "inject"]
            said = [(verdict.probability, verdict.hit.file in query.gold) for verdict in verdicts]
            found.append(Answer(query, hits, injected, said))
        return found


def calibration(found: Sequence[Answer]) -> list[tuple[float, float, int]]:
    """Return (mean probability, share that helped, how many) of the memories by tenths of the probability; everyday
    prompts together weigh as much as all others."""
    usual = sum(each.query.kind == recall_sets.EVERYDAY for each in found)
    weight = (len(found) - usual) / usual if usual else 1.0
    tenths: list[list[tuple[float, bool, float]]] = [[] for _ in range(10)]
    for each in found:
        for probability, helps in each.said:
            weighed = (probability, helps, weight if each.query.kind == recall_sets.EVERYDAY else 1.0)
            tenths[min(9, int(10 * probability))].append(weighed)
    bins = []
    for rows in filter(None, tenths):
        total = sum(part for *_, part in rows)
        mean, helped = (sum(part * row[at] for *row, part in rows) / total for at in (0, 1))
        bins.append((mean, helped, len(rows)))
    return bins


def picture(bins: Sequence[tuple[float, float, int]]) -> str:
    """Draw how often the memories helped that were said to help with so much probability, as SVG."""
    side, left = 300, 46
    dots = "".join(
        f'<circle cx="{left + mean * side:.1f}" cy="{10 + side - helped * side:.1f}" r="5"><title>said {mean:.2f}:'
        f" {helped:.2f} of {number} helped</title></circle>"
        for mean, helped, number in bins
    )
    marks = "".join(
        f'<text x="{left + at * side:.0f}" y="{side + 26}" text-anchor="middle">{at:g}</text>'
        f'<text x="{left - 8}" y="{14 + side - at * side:.0f}" text-anchor="end">{at:g}</text>'
        for at in (0, 0.5, 1)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side + 70} {side + 52}" font-family="sans-serif"'
        f' font-size="12"><rect width="100%" height="100%" fill="white"/><rect x="{left}" y="10" width="{side}"'
        f' height="{side}" fill="none" stroke="#bbb"/><path d="M{left} {10 + side}L{left + side} 10" stroke="#bbb"/>'
        f'<g fill="#2563eb">{dots}</g>{marks}<text x="{left + side / 2:.0f}" y="{side + 44}" text-anchor="middle">said'
        f' to help</text><text transform="translate(14 {10 + side / 2:.0f}) rotate(-90)" text-anchor="middle">helped'
        "</text></svg>\n"
    )


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
    usual = [each for each in found if each.query.kind == recall_sets.EVERYDAY]
    asked = [each for each in found if each.query.kind != recall_sets.EVERYDAY]
    print(f"  {'BM25 alone':22} {figures(each.by(lambda hit: hit.lexical) for each in asked)}")
    if any(hit.cosine for each in asked for hit in each.hits):
        print(f"  {'.7 cosine + .3 BM25':22} {figures(map(scaled, asked))}")
    print(f"  {'recall':22} {figures(asked)}")
    print(f"  {'injection':22} {injection(asked)}")
    if usual:
        counts = injection(usual)
        part = share(sum(bool(each.injected) for each in usual), len(usual))
        print(f"  {'everyday prompts':22} that get one {part}, of which help {share(counts.right, counts.sent)}")
    said = "  ".join(f"{mean:.2f}: {helped:.2f} of {number}" for mean, helped, number in calibration(found))
    print(f"  {'said to help: did':22} {said}")
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
    parser.add_argument("--beside", default="", metavar="REV", help="first the same by another revision")
    parser.add_argument("--picture", default="", metavar="FILE", help="draw the calibration of all sets as SVG")
    parser.add_argument("--misses", action="store_true", help="also the prompts whose first hit does not help")
    given = parser.parse_args(arguments)
    if given.beside:
        with tempfile.TemporaryDirectory() as folder:
            earlier = {**os.environ, "MEMTUI_SOURCES": str(revision.sources(given.beside, Path(folder, "earlier")))}
            options = [f"--memories={given.memories}", f"--triggers={given.triggers}"]
            print(f"by {given.beside}:", flush=True)
            subprocess.run([sys.executable, __file__, *given.sets, *options], env=earlier, check=True)
        print("by these sources:")
    rows = []
    every: list[Answer] = []
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
            every += found
            report(found, "with triggers" if with_triggers else "without triggers", given.kinds)
            if given.misses:
                misses(found)
            rows += [row_of(chosen, each, with_triggers) for each in found]
    if given.picture:
        Path(given.picture).write_text(picture(calibration(every)), encoding="utf-8")
    if given.output:
        with open(given.output, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
