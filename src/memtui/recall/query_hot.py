"""Search the indexes of a session's memories for the text of a prompt. Hot path."""

import marshal

from memtui.recall import best_scores_hot, gloss_hot, segment_hot, words_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Allowed = Callable[[str, str, str], bool] | None
    Parts = list["IndexPart"]
    Places = Sequence[tuple[str, str]]
    Weights = dict[str, float]  # by term
    Scores = list[dict[int, float]]  # by part and memory

# Terms of a prompt that are looked up, and how many of the memories that say it in its words are compared by meaning.
MOST_TERMS, CANDIDATES = 96, 16
FIRST_PASSAGES = 2  # passages of a memory compared because of its words; others only if they are among the nearest
GLOSS_WEIGHT = 0.5  # what an English word for one of a prompt in another language counts, of 1.0
# Letters from which a word stands for those that begin with it; standing instructions that are compared by meaning, and
# that a prompt can be about.
BEGINNING, MOST_COMPARED, MOST_STANDING = 4, 64, 4
# What a cosine of 1.0 counts in the score, beside the points of BM25. The best for the sets of
# tests/benchmarks/recall.py: better than shares of both, each scaled over what was found, as long as few words match.
MEANING = 16.0
FINENESS = 1000.0  # a part of a prompt's vector of length 1, as a whole number
# What everyday prompts have in common with a passage, and a prompt with them, on average: for where a sentence model,
# which has no such measure, compares.
MEAN_PART, MEAN_NEARNESS = 0.21, 0.15
SHORT = 1000  # bytes of a memory that says few words beside those that it is about
# Of so many memories on, a word that more than half of them have is not compared by meaning: in a conversation that is
# who speaks, whose name is rare in general, and would count most.
TELLING_FROM = 8


class Hit:
    """A memory that a search found. `stamp`: (mtime in ns, size) when it was indexed; `lexical`: BM25 over all fields;
    `share`: of the prompt's idf weight; `cosine`: of its best passage, beyond what everyday prompts have, 0.0 without
    vectors; `overlap`: share in the prompt of its name and description, or of a trigger; `named`: share of the prompt's
    idf weight in these; `everyday`: how near the prompt is to everyday ones; `chance`: with trigger lines, how much of
    a prompt of everyday words it lacks; `topic`: of a standing instruction the share of its topic in the prompt, else
    -1.0; `score`: all, in points of BM25; `rank`; `margin`: to the next."""

    def __init__(self, scope: str, directory: str, row: "tuple[object, ...]") -> None:
        self.scope, self.directory = scope, directory
        file, mtime, size, digest, name, description, kind, pinned, expires, paths = row[: segment_hot.RULES]
        self.file = str(file)
        self.stamp: tuple[int, int] = (mtime, size)  # type: ignore[assignment]
        self.digest = str(digest)
        self.name, self.description, self.type = str(name), str(description), str(kind)
        self.pinned = bool(pinned)
        self.expires: float = expires  # type: ignore[assignment]
        self.paths: tuple[str, ...] = paths  # type: ignore[assignment]
        self.lexical = self.share = self.cosine = self.overlap = self.score = self.margin = 0.0
        self.topic = -1.0
        self.everyday = self.named = self.chance = 0.0
        self.rank = 0

    @property
    def path(self) -> str:
        return f"{self.directory}/{self.file}"

    @property
    def length(self) -> float:
        """How long it is, by doublings: 0.0 up to SHORT bytes, 1.0 from sixteen times as many on."""
        doublings = (self.stamp[1] // SHORT).bit_length() - 1
        return min(1.0, (doublings + self.stamp[1] / (SHORT << doublings) - 1.0) / 4) if doublings >= 0 else 0.0


class IndexPart:
    """A segment that is searched: where it is from, its postings by term, what everyday prompts say (`Manifest`), how
    near the prompt is to them, how `usual` its words are, and of standing instructions the share of a topic in it."""

    __slots__ = ("directory", "everyday", "nearness", "postings", "scope", "segment", "topics", "usual")

    def __init__(self, scope: str, directory: str, segment: "segment_hot.Segment", everyday: bytes) -> None:
        self.scope, self.directory, self.segment = scope, directory, segment
        self.everyday, self.nearness, self.usual = everyday, MEAN_NEARNESS, 0.0
        self.postings: dict[str, segment_hot.Posting] = {}
        self.topics: dict[int, float] = {}

    def scores(self, docs: "set[int]", idf: "dict[str, float]") -> "dict[int, float]":
        scores_by_doc = dict.fromkeys(docs, 0.0)
        for term, posting in self.postings.items():
            weight = best_scores_hot.SCALE * idf[term]
            for doc, impact in posting.among(docs):
                scores_by_doc[doc] += weight * impact
        return scores_by_doc

    def matched(self, docs: "set[int]", idf: "dict[str, float]") -> "dict[int, float]":
        """Return how much of the prompt's idf weight some memories have."""
        shares_by_doc = dict.fromkeys(docs, 0.0)
        for term, posting in self.postings.items():
            weight = idf[term]
            for doc, _ in posting.among(docs):
                shares_by_doc[doc] += weight
        return shares_by_doc


def search(
    root: str, places: "Places", text: str, most: int = 20, allowed: "Allowed" = None, sentences: bool = False
) -> "list[Hit]":
    """Return the memories that fit a text best, at most `most`, from `places`, (scope, directory) each. `allowed` is
    asked with (scope, directory, digest) whether one may be among them. With `sentences` the daemon with a sentence
    model has its say. Never raises for a damaged index."""
    parts: Parts = []
    try:
        for scope, directory in places:
            parts += opened(root, scope, directory)
        word_weights, direction = marshal.loads(parts[0].everyday) if parts else ({}, [])  # noqa: S302
        weights = weighted_terms(text, word_weights) if parts else {}
        if not weights:
            return []
        for part in parts:  # a word or two of its own make a prompt another one
            part.usual = (sum([term in word_weights for term in weights]) / len(weights)) ** 4
        return _searched(parts, weights, text, direction, most, allowed, root if sentences else "")
    finally:
        for part in parts:
            part.segment.close()


def weighted_terms(text: str, everyday: "dict[str, float]") -> "dict[str, float]":
    """Return the terms that are looked up for a text, at most MOST_TERMS, and what each counts beside its idf."""
    weights = {term: words_hot.COMMON_WEIGHT if term in words_hot.COMMON else 1.0 for term in words_hot.terms(text)}
    for term in words_hot.terms(gloss_hot.english(text)):
        weights.setdefault(term, GLOSS_WEIGHT)
    for term in everyday.keys() & weights.keys():
        weights[term] *= everyday[term]
    return dict(list(weights.items())[:MOST_TERMS]) if len(weights) > MOST_TERMS else weights


def opened(root: str, scope: str, directory: str) -> "Parts":
    """Open the segments of a directory. If one was replaced meanwhile, its manifest is read again, once."""
    for _ in range(2):
        index_parts: Parts = []
        try:
            manifest = segment_hot.read_manifest(root, directory)
            if manifest is None:
                return []
            for entry in manifest.segments:
                index_parts += [IndexPart(scope, directory, segment_hot.Segment(root, entry), manifest.everyday)]
            return index_parts
        except segment_hot.DAMAGED:
            for part in index_parts:
                part.segment.close()
    return []


def _searched(
    parts: "Parts", weights: "Weights", text: str, direction: "list[float]", most: int, allowed: "Allowed", root: str
) -> "list[Hit]":
    numbers = [(term, segment_hot.number_of(term.encode("utf-8", "surrogatepass"))) for term in weights]
    counts = dict.fromkeys(weights, 0)
    total = 0
    for part in list(parts):
        try:
            look_up(part, numbers)
        except segment_hot.DAMAGED:
            parts.remove(part)
            part.segment.close()
            continue
        total += part.segment.number - len(part.segment.dead)
        for term, posting in part.postings.items():
            counts[term] += posting.living(part.segment.dead)
    idf = {term: rarity(total, count) * weights[term] for term, count in counts.items()}
    wanted = max(CANDIDATES, most)
    best = [
        (score, at, doc)
        for at, part in enumerate(parts)
        for score, doc in best_scores_hot.highest(part.postings, part.segment, idf, wanted)
        if score
    ]
    best.sort(reverse=True)
    lexical: list[dict[int, float]] = [{} for _ in parts]
    for score, at, doc in best[:wanted]:
        lexical[at][doc] = score
    for part in parts:
        part.topics = named_topics(part.segment, weights)
    cosines = _by_sentences(root, parts, lexical, text, most) if root else None
    if not cosines:
        often = {term for term, count in counts.items() if 2 * count > total} if total >= TELLING_FROM else set()
        cosines = _cosines(parts, lexical, text, direction, often, most) or [{} for _ in parts]
    standing = _standing(parts, cosines)
    scored = []
    for at, part in enumerate(parts):
        doc_scores = lexical[at]
        doc_scores |= part.scores((cosines[at].keys() | part.topics.keys()) - doc_scores.keys(), idf)
        for doc, points in doc_scores.items():
            if doc not in part.topics or (at, doc) in standing:
                scored.append((points + MEANING * max(0.0, cosines[at].get(doc, 0.0)), at, doc))
    scored.sort(key=lambda row: (row[1:] not in standing, -row[0], row[1], row[2]))
    return _hits(parts, scored, lexical, cosines, most, allowed, idf, dict(numbers))


def _hits(
    parts: "Parts",
    scored: "list[tuple[float, int, int]]",
    lexical: "Scores",
    cosines: "Scores",
    most: int,
    allowed: "Allowed",
    idf: "Weights",
    numbers: "dict[str, int]",
) -> "list[Hit]":
    """Read the best memories that are allowed, and work out what else speaks for them."""
    hits: list[Hit] = []
    docs: list[set[int]] = [set() for _ in parts]
    parts_read = []
    for score, at, doc in scored:
        if len(hits) == most:
            break
        part = parts[at]
        try:
            row = part.segment.row(doc)
        except segment_hot.DAMAGED:
            continue
        if allowed is not None and not allowed(part.scope, part.directory, str(row[segment_hot.DIGEST])):
            continue
        hit = Hit(part.scope, part.directory, row)
        hit.score, hit.lexical, hit.cosine = score, lexical[at][doc], cosines[at].get(doc, 0.0)
        hit.topic, hit.everyday = part.topics.get(doc, -1.0), part.nearness
        hits.append(hit)
        docs[at].add(doc)
        parts_read.append((at, doc, row[segment_hot.HEADS]))
    matched = [part.matched(docs[at], idf) for at, part in enumerate(parts)]
    weight = sum(idf.values()) or 1.0
    points = {numbers[term]: idf[term] / weight for term in idf}
    for hit, (at, doc, texts) in zip(hits, parts_read, strict=True):
        hit.share = matched[at][doc] / weight
        hit.chance = (1.0 - hit.share) * parts[at].usual if len(texts) > 1 else 0.0
        for head in texts:
            overlap, named = _overlap(head, points)
            hit.overlap, hit.named = max(hit.overlap, overlap), max(hit.named, named)
    others = [hit for hit in hits if hit.topic]  # a standing instruction whose topic is only near takes no rank
    for rank, hit in enumerate(others, 1):
        hit.rank = rank
        hit.margin = hit.score - (others[rank].score if rank < len(others) else 0.0)
    return hits


def _by_sentences(root: str, parts: "Parts", lexical: "Scores", text: str, most: int) -> "Scores | None":
    """Return what `_cosines` returns, by a sentence model; None if its daemon does not tell in time."""
    from memtui.recall import semantic_hot

    requests = [(part.segment.name, part.segment.number, scores) for part, scores in zip(parts, lexical, strict=True)]
    cosines = semantic_hot.closest(root, requests, text, most)
    for part, doc_scores in zip(parts, cosines or (), strict=False):
        for doc in part.segment.dead.intersection(doc_scores):
            del doc_scores[doc]
        for doc in doc_scores:
            doc_scores[doc] -= MEAN_PART
    return cosines


def _cosines(
    parts: "Parts", lexical: "Scores", text: str, direction: "list[float]", often: "set[str]", most: int
) -> "Scores | None":
    """Return, for each part, the best cosines of its nearest memories and of those found; None without vectors."""
    if not any(part.segment.has_passages for part in parts):
        return None
    from memtui.recall import nearest_passages_hot, vectors_hot

    try:
        text = gloss_hot.in_english(text)
        table = vectors_hot.Table()
        try:
            if often:
                telling = [word for word in text.split() if not often.issuperset(words_hot.terms(word) or (word,))]
                text = " ".join(telling) or text
            vector = table.of_text(text)
        finally:
            table.close()
    except OSError:
        return None
    if vector is None or not vector.length:
        return None
    if direction:
        length = vector.length
        pairs = list(zip(vector.values, direction, strict=True))
        nearness = sum([value * common for value, common in pairs]) / length
        vector.values = [round(FINENESS * (value / length - common)) for value, common in pairs]
        vector.length = FINENESS
        for part in parts:
            part.nearness = nearness
    by_part = []
    for part, doc_scores in zip(parts, lexical, strict=True):
        cosines: dict[int, float] = {}
        try:
            segment = part.segment
            if segment.has_passages:
                firsts: dict[int, int] = {}
                for doc in (*doc_scores, *list(part.topics)[:MOST_COMPARED]):
                    firsts.update(dict.fromkeys(segment.passages_of(doc)[:FIRST_PASSAGES], doc))
                passages, owner = nearest_passages_hot.Passages(segment.passages), segment.owner()
                cosines = nearest_passages_hot.best(passages, vector, most, owner, firsts)
                for doc in segment.dead.intersection(cosines):
                    del cosines[doc]
        except segment_hot.DAMAGED:
            pass
        by_part.append(cosines)
    return by_part


def look_up(part: IndexPart, numbers: "list[tuple[str, int]]") -> None:
    """Read the postings of the prompt's terms."""
    segment = part.segment
    rows_by_part: dict[int, dict[str, object]] = {}
    for term, number in numbers:
        at = number % segment.shards
        shard = rows_by_part.get(at)
        if shard is None:
            shard = rows_by_part[at] = segment.shard(at)
        entry = shard.get(term)
        if entry is not None:
            part.postings[term] = segment.posting(entry)


def named_topics(segment: "segment_hot.Segment", terms: "Iterable[str]") -> "dict[int, float]":
    """Return the share of its topic that some terms name, of each standing instruction of a segment."""
    if not segment.topics:
        return {}
    telling = {term for term in terms if term not in words_hot.COMMON}
    beginnings = {term[:end] for term in telling for end in range(BEGINNING, len(term) + 1)} | telling

    def is_named(word: str) -> bool:
        return word in beginnings or any(word[:end] in telling for end in range(BEGINNING, len(word)))

    shares = {}
    for doc, topics in segment.topics.items():
        if doc not in segment.dead:
            shares[doc] = max([sum(map(is_named, topic)) / len(topic) for topic in topics])
    return shares


def _standing(parts: "Parts", cosines: "list[dict[int, float]]") -> "set[tuple[int, int]]":
    """Return the standing instructions that a prompt is about, as (part, number): it names their topic, or is near."""
    rows = []
    for at, part in enumerate(parts):
        rows += [(share, cosines[at].get(doc, 0.0), at, doc) for doc, share in part.topics.items()]
    nearest = max([row[1] for row in rows], default=0.0)
    about = sorted([row for row in rows if row[0] or row[1] == nearest > 0.0], reverse=True)
    return {(at, doc) for _, _, at, doc in about[:MOST_STANDING]}


def rarity(total: int, count: int) -> float:
    """Return how much a term weighs that `count` of `total` memories have: more than 0."""
    return _log(1.0 + (max(total, count) - count + 0.5) / (count + 0.5))


def _log(number: float) -> float:
    """Return the natural logarithm of a number from 1 on, to six digits: loading `math` takes longer."""
    total = 0.0
    while number > 2.0:
        number /= 2.0
        total += 0.6931471805599453
    ratio = (number - 1.0) / (number + 1.0)
    square = ratio * ratio
    series = 1.0 + square * (1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square / 11))))
    return total + 2.0 * ratio * series


def _overlap(head: bytes, points: "dict[int, float]") -> "tuple[float, float]":
    """Return the share of the weight of a head, as in a row, whose terms have points, and the sum of these points."""
    count = len(head) // 5
    weights = head[4 * count :]
    common, named = 0, 0.0
    for number, weight in zip(memoryview(head[: 4 * count]).cast("I"), weights, strict=True):
        if number in points:
            common += weight
            named += points[number]
    return common / (sum(weights) or 1), named
