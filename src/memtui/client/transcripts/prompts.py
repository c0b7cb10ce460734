"""The prompts that a person typed, newest first, from the transcripts of a project that are on disk; and what a session
is about: its title (a record after `/rename`, or the client's own, 2.1.330), else its first prompt."""

import posix
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot
from memtui.client.agents import agents_hot
from memtui.client.transcripts import speaker, transcript_hot
from memtui.client.transcripts.conversation import normalised
from memtui.client.transcripts.speaker import own_words

# Transcripts that are read at most, the newest first, and the bytes at the end of each: a session of weeks has 100 MB.
TRANSCRIPTS = 60
TAIL_BYTES = 4 << 20
# Bytes at its end that a hook reads that refuses a write.
HOOK_BYTES = 1 << 20
# Bytes. A longer line holds a pasted file and is not parsed.
LONG_LINE = 1 << 20


class Prompt(NamedTuple):
    """A prompt in the person's own words. `time`: of the epoch, 0.0 if unknown; `id`: the client's, if any."""

    text: str
    session: str
    time: float = 0.0
    id: str = ""


def recent(config_dir: str, slugs: Iterable[str], most: int) -> list[Prompt]:
    """Return the `most` newest prompts of some projects, newest first; of equal ones the newest. Never raises."""
    files = [file for slug in slugs for file in transcript_hot.in_directory(f"{config_dir}/projects/{slug}")]
    newest: list[Prompt] = []
    for changed, path in sorted(files, reverse=True)[:TRANSCRIPTS]:
        if len(newest) >= most and changed < min((question.time for question in newest), default=0.0):
            break  # all its prompts are older than those that were found
        distinct: dict[str, Prompt] = {}
        for question in sorted([*newest, *of_transcript(path)], key=lambda prompt: -prompt.time):
            distinct.setdefault(normalised(question.text), question)
        newest = list(distinct.values())[:most]
    return newest


def of_transcript(path: str, start: int = -1, needle: bytes = b"") -> Iterator[Prompt]:
    """Yield the prompts at a transcript's end, or from `start`, oldest first; `needle` must be in a prompt's line."""
    is_fit = lambda line: len(line) < LONG_LINE and needle in line and b'"user"' in line and b"tool_use_id" not in line
    try:
        if start < 0:
            start = transcript_hot.tail_start(path, TAIL_BYTES)
        session = agents_hot.session_id(path)
        for record in transcript_hot.Reader(path, start, is_fit):
            words = own_words(speaker.prompt_text(record))
            if words:
                time = clock_hot.parse(record.get("timestamp")) or 0.0
                yield Prompt(words, session, time, transcript_hot.text_of(record.get("promptId")))
    except OSError:
        return


def with_id(path: str, prompt_id: str) -> str:
    """Return the person's words in the prompt with this id; empty if there are none."""
    prompts = of_transcript(path, 0, prompt_id.encode("utf-8", "replace")) if prompt_id else ()
    return next((prompt.text for prompt in prompts if prompt.id == prompt_id), "")


def under_way(path: str, clean: Callable[[str], str], asks: Callable[[str], bool] = bool) -> str:
    """Return what the person asked for last in a transcript, `clean` before it is cut; empty if nothing tells."""
    if not path.startswith("/"):
        return ""
    try:
        start = transcript_hot.tail_start(path, HOOK_BYTES)
    except OSError:
        return ""
    for prompt in reversed(list(of_transcript(path, start))):
        if speaker.request_of(prompt.text) and asks(prompt.text):
            return speaker.request_of(clean(prompt.text))
    return ""


# The beginning of a transcript that is read: the client's own records and attached files can come first.
HEAD_BYTES = 1 << 20
# The end of a longer transcript, where its title stands again and its newest branch.
TITLE_TAIL = 1 << 16
# The records that hold a title, the better one first, and the field of each.
TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}


class About(NamedTuple):
    """What a session is about: its title or first words, and the git branch of its newest record; empty if unknown."""

    title: str = ""
    branch: str = ""


def about(path: str | None) -> About:
    """Return what a session is about, by the beginning and the end of its transcript."""
    if path and agents_hot.of_session(path):
        try:
            records = transcript_hot.Reader(path, limit=TITLE_TAIL)
            titles = [transcript_hot.text_of(record.get("aiTitle")) for record in records]
        except OSError:
            titles = []
        first = "" if any(titles) else next((prompt.text for prompt in of_transcript(path, 0)), "")
        return About(next(filter(None, [*titles, first]), "").split("\n")[0])
    try:
        head = fs_hot.read_bytes(path or "", HEAD_BYTES)
        tail = fs_hot.read_bytes(path or "", TITLE_TAIL, max(len(head), posix.stat(path or "").st_size - TITLE_TAIL))
    except OSError:
        return About()
    titles_by_id: dict[str, str] = {}
    branch = ""
    for line in reversed((head + b"\n" + tail).split(b"\n")):
        if b'-title"' in line:
            record = fastjson_hot.loads_dict(line)
            kind = transcript_hot.text_of(record.get("type"))
            if kind in TITLES:
                titles_by_id.setdefault(kind, transcript_hot.text_of(record.get(TITLES[kind])).strip().split("\n")[0])
        elif not branch and b'"gitBranch"' in line:
            branch = transcript_hot.text_of(fastjson_hot.loads_dict(line).get("gitBranch"))
    title = next((titles_by_id[kind] for kind in TITLES if titles_by_id.get(kind)), "")
    for line in head.split(b"\n") if not title else ():  # else the first line that the person typed
        words = own_words(speaker.prompt_text(fastjson_hot.loads_dict(line))) if b'"user"' in line else ""
        if words:
            title = words.split("\n")[0]
            break
    return About(title, branch)
