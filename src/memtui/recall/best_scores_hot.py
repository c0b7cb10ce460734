"""The memories of a segment that have the highest BM25 scores for the terms of a prompt. Hot path."""

from memtui.recall import segment_hot

SCALE = 2.2 / segment_hot.FULL  # BM25's k1 is in the impacts, up to this factor (`build.K1`)
BYTES = bytes(range(256))
STEPS = 127  # how finely what common terms add is told apart at first; a byte has room for 255


def highest(
    postings: "dict[str, segment_hot.Posting]", segment: "segment_hot.Segment", idf: "dict[str, float]", most: int
) -> "list[tuple[float, int]]":
    """Return the memories of a segment that score highest, `most` or a few more, as (score, number)."""
    few: list[tuple[float, segment_hot.Posting]] = []
    many: list[tuple[float, segment_hot.Posting]] = []
    for term, posting in postings.items():
        (many if posting.all_impacts else few).append((idf[term] * SCALE, posting))
    best_scores: dict[int, float] = {}
    for weight, posting in few:
        for doc, impact in zip(posting.docs, posting.impacts, strict=True):
            best_scores[doc] = best_scores.get(doc, 0.0) + impact * weight
    dead = segment.dead
    for doc in dead.intersection(best_scores) if dead else ():
        del best_scores[doc]
    if not many:
        scores = [(score, doc) for doc, score in best_scores.items()]
        least = _least(scores, most)
        return [score for score in scores if score[0] >= least]
    step, rough = _rough(many, segment.number)
    slack = step * len(many)  # what is worked out roughly is rounded up to a step
    upper = [(score + step * rough[doc], doc) for doc, score in best_scores.items()]
    # What the others, which have only common terms, must have at least.
    steps = min(256, max(1, int((_least(upper, most) - slack) / step)))
    if len(rough.translate(None, BYTES[:steps])) > 2 * most:
        steps = max(steps, _most_steps(rough, most) - int(slack / step) - 1)
    upper += [(step * rough[doc], doc) for doc in _from(rough, steps) if doc not in best_scores and doc not in dead]
    least = _least(upper, most) - slack
    return [
        (best_scores.get(doc, 0.0) + sum([weight * posting.impact(doc) for weight, posting in many]), doc)
        for score, doc in upper
        if score >= least
    ]


def _least(scores: "list[tuple[float, int]]", most: int) -> float:
    """Return the lowest of the `most` highest scores; 0.0 if there are fewer."""
    if len(scores) < most:
        return 0.0
    top = max(scores)[0]
    for part in (0.6, 0.4, 0.2, 0.0):
        high = [score for score, _ in scores if score >= part * top]
        if len(high) >= most:
            break
    high.sort()
    return high[-most]


def _rough(many: "list[tuple[float, segment_hot.Posting]]", number: int) -> "tuple[float, bytes]":
    """Return about what some terms add in each of `number` memories, in steps: never too little, by a step too much."""
    step = sum([weight * posting.highest for weight, posting in many]) / (STEPS - len(many))
    total = 0
    for weight, posting in many:
        runs, at, steps = [b"\0"], 1, 1  # the steps of each impact, rounded up: runs of the same number
        scale = step / weight
        while at < 256 and steps < 255:
            end = min(256, int(steps * scale) + 1)
            if end > at:
                runs.append(BYTES[steps : steps + 1] * (end - at))
                at = end
            steps += 1
        runs.append(b"\xff" * (256 - at))
        total += int.from_bytes(posting.all_impacts.translate(b"".join(runs)), "little")
    return step, total.to_bytes(number, "little")


def _most_steps(rough: bytes, most: int) -> int:
    """Return the highest number of steps that `most` memories have."""
    low, high = 0, 256
    while high - low > 1:
        middle = (low + high) // 2
        if len(rough.translate(None, BYTES[:middle])) >= most:
            low = middle
        else:
            high = middle
    return low


def _from(rough: bytes, steps: int) -> "list[int]":
    """List the memories that have at least so many steps."""
    marked = rough.translate(b"\0" * steps + b"\1" * (256 - steps))
    docs_found = []
    at = marked.find(1)
    while at >= 0:
        docs_found.append(at)
        at = marked.find(1, at + 1)
    return docs_found
