"""Write a memory that a prompt recalls as it is given: cut to its room at a sentence, with its age. Hook path."""

from memtui.base import clock_hot
from memtui.deliver import blocks_hot
from memtui.recall import content_hot, judge_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.recall.query_hot import Hit

INTRO = "Memory that the user keeps, recalled by memtui because it may help here: {about}"
INTRO_PINNED = "Memory that the user pinned, so that every session begins with it: {about}"
INTRO_TEAM = "Memory that the user's team shares, recalled by memtui because it may help here: {about}"
INTRO_BROKEN = "Memory that the user keeps. A rule of it was just broken in this session, by `{line}`: {about}"
AGED = " It was written {ago}: check that what it says still holds before relying on it."
FAILING = " Its own check has failed since {failure}: it may no longer be true, so look before you rely on it."
CUT = "\n(The rest of it is in {path}.)"
# Characters of a description, and of a name, that stand above a text. A longer description is left out whole: half of
# it might say the opposite.
MOST_ABOUT, MOST_NAME = 500, 200
# What ends a sentence, and how far back from the cut an end of one is looked for, as a share of the text.
ENDS = (".\n", ". ", "!\n", "! ", "?\n", "? ", ":\n", ";\n", "。", "！", "？", "\n")
LOOKED_BACK = 0.5
FRAME, LEAST = 400, 400  # UTF-16 units of a block beside text, path and name, about; the fewest of a cut text


def blocks(verdicts: "Sequence[judge_hot.Verdict]", room: int, now: float) -> "list[blocks_hot.Block]":
    """Return a block for each memory, cut so that all fit into `room` UTF-16 units; those that can't are left out."""
    texts = [content_hot.body(other.data).strip() for other in verdicts]
    frames = [FRAME + 3 * len(other.hit.path) + len(_about(other.hit)) for other in verdicts]
    parts = []
    for verdict, text, most in zip(verdicts, texts, _shares(texts, frames, room), strict=True):
        if most > 0:
            parts.append(_block(verdict, text, most, now))
    return parts


def _shares(texts: "list[str]", frames: "list[int]", room: int) -> "list[int]":
    """Return how many units each text may have, the short ones all of theirs; 0 for the last ones without room."""
    sizes = [min(judge_hot.MOST_BYTES, blocks_hot.units(text)) for text in texts]
    while sizes and sum(frames[: len(sizes)]) + sum([min(size, LEAST) for size in sizes]) > room:
        sizes.pop()
    rest = room - sum(frames[: len(sizes)])
    shares = dict.fromkeys(range(len(texts)), 0)
    for count, at in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[at] = max(1, min(sizes[at], rest // (len(sizes) - count)))
        rest -= shares[at]
    return list(shares.values())


def _block(verdict: "judge_hot.Verdict", text: str, most: int, now: float) -> blocks_hot.Block:
    hit = verdict.hit
    modified = verdict.stamp[0] / 1e9
    name = hit.name[:MOST_NAME]
    intro = INTRO_PINNED if verdict.reason == "pinned" else INTRO_TEAM if hit.scope.startswith("team") else INTRO
    intro = (INTRO_BROKEN if verdict.broken else intro).format(about=sentence(_about(hit)), line=verdict.broken)
    if now - modified > clock_hot.DAY:
        intro += AGED.format(ago=clock_hot.ago(modified, now))
    if verdict.failure:
        intro += FAILING.format(failure=verdict.failure)
    short = cut(text, min(most, judge_hot.MOST_BYTES))
    if short != text:
        short += CUT.format(path=hit.path)
    fields = {"scope": hit.scope, "source": hit.path, "name": name}
    if hit.type:
        fields["type"] = hit.type
    fields["time"] = clock_hot.iso_seconds(modified)
    item = blocks_hot.item("recall", name, hit.scope, hit.path, verdict.digest[:16], reason(verdict))
    item["probability"] = int(verdict.probability * 1000 + 0.5) / 1000
    part = blocks_hot.Part(short, name, item)
    return blocks_hot.Block(blocks_hot.TAGS["recall"], fields, " ".join(intro.split()), [part])


def sentence(text: str) -> str:
    """Return a text on one line that ends as a sentence."""
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?", "。")) else text + "."


def _about(hit: "Hit") -> str:
    """Return what is said of a memory above its text."""
    fits = 0 < len(hit.description) <= MOST_ABOUT
    return hit.description if fits else hit.name[:MOST_NAME]


def reason(verdict: "judge_hot.Verdict") -> str:
    """Say in a few words why a memory is given: what fits, and what else counted."""
    hit = verdict.hit
    if verdict.reason:
        return verdict.reason
    words = f"{round(hit.share * 100)}% of the prompt's words"
    if hit.cosine > 0.0:
        words += f", meaning {round(hit.cosine * 100)}%"
    codes = ", ".join([code for code, _ in verdict.shifts])
    return f"{words}; {codes}" if codes else words


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, at most `most` bytes of UTF-8, up to the end of a sentence, else of a word."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    short = data[: max(0, most)].decode("utf-8", "ignore")
    least = int(len(short) * LOOKED_BACK)
    end = max([at + len(mark.rstrip()) if (at := short.rfind(mark, least)) >= 0 else 0 for mark in ENDS])
    if not end:
        end = short.rfind(" ", least)
    return short[:end].rstrip() if end > 0 else short
