"""What a session is about: its title, else the person's own first words; and the branch it is on. The client writes a
title as a record, and again when it leaves the session: `custom-title` after `/rename`, `ai-title` for its own
(2.1.330)."""

import posix
from typing import NamedTuple

from memtui.base import fastjson, fs
from memtui.client.transcripts import speaker, transcript
from memtui.client.transcripts.speaker import own_words

# The beginning of a transcript that is read: the client's own records and attached files can come first.
HEAD_BYTES = 1 << 20
# The end of a longer transcript, where its title stands again and its newest branch.
TAIL_BYTES = 1 << 16
# The records that hold a title, the better one first, and the field of each.
TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}


class About(NamedTuple):
    """What a session is about: its title or first words, and the git branch of its newest record; empty if unknown."""

    title: str = ""
    branch: str = ""


def about(path: str | None) -> About:
    """Return what a session is about, by the beginning and the end of its transcript."""
    try:
        head = fs.read_bytes(path or "", HEAD_BYTES)
        tail = fs.read_bytes(path or "", TAIL_BYTES, max(len(head), posix.stat(path or "").st_size - TAIL_BYTES))
    except OSError:
        return About()
    titles_by_id: dict[str, str] = {}
    branch = ""
    for line in reversed((head + b"\n" + tail).split(b"\n")):
        if b'-title"' in line:
            record = fastjson.loads_dict(line)
            kind = transcript.text_of(record.get("type"))
            if kind in TITLES:
                titles_by_id.setdefault(kind, transcript.text_of(record.get(TITLES[kind])).strip().split("\n")[0])
        elif not branch and b'"gitBranch"' in line:
            branch = transcript.text_of(fastjson.loads_dict(line).get("gitBranch"))
    title = next((titles_by_id[kind] for kind in TITLES if titles_by_id.get(kind)), "")
    for line in head.split(b"\n") if not title else ():  # else the first line that the person typed
        words = own_words(speaker.prompt_text(fastjson.loads_dict(line))) if b'"user"' in line else ""
        if words:
            title = words.split("\n")[0]
            break
    return About(title, branch)
