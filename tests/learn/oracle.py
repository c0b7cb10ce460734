"""Who said what in a transcript, by a reading of its own that shares nothing with the product's: it knows no queue, no branches
and no state, only which records and which parts of them a person, or the agent, wrote."""

import json
import re

WORDS = 4  # of a piece by which texts are compared
HIDDEN = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
MACHINES = "system-reminder command- local-command- bash- task-notification user-prompt-submit-hook ide_ memtui-"
WRAPPED = re.compile(rf"<((?:{'|'.join(MACHINES.split())})[\w-]*)[^>]*>.*?</\1>", re.DOTALL | re.IGNORECASE)
# Others that look like a machine's: whether their content counts as said or not, what is around it was said.
TAGGED = re.compile(r"<([a-z][\w-]*)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
REFUSED = re.compile(r"\A(?:Error: )?[^\n]*?the user said:\s*(.*)\Z", re.DOTALL | re.IGNORECASE)
MARKS = re.compile(r"\[redacted[^\]]*\]|…")


def pieces(text):
    """Each run of WORDS words of a text, in lower case, without what the product puts in: a secret's mark, an ellipsis."""
    found = set()
    for part in MARKS.split(text):
        words = re.findall(r"\w+", part.replace("’", "'").casefold())
        found.update(" ".join(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1))
    return found


def inner(text):
    """The pieces of an excerpt, which may begin and end within a word."""
    words = text.split()
    return pieces(" ".join(words[1:-1]))


def strings(value):
    """All texts within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def records(data):
    """The objects that stand alone on a line; and those of lines with several."""
    decoder = json.JSONDecoder(strict=False)
    for line in data.decode("utf-8", "replace").replace("\0", "").split("\n"):
        line = line.strip().removeprefix("\ufeff")  # noqa: PLW2901
        while line.startswith("{"):
            try:
                value, end = decoder.raw_decode(line)
            except ValueError:
                break
            yield value
            line = line[end:].lstrip(" \t,")  # noqa: PLW2901


class Sources:
    """The pieces of a transcript: what a person `said`, what the agent `spoke`, what `tools` were given and answered, and
    what is `hidden`: said by nobody in this conversation. `uuids` are those of records with words of a person."""

    def __init__(self, data):
        self.said, self.spoke, self.tools, self.hidden, self.uuids = set(), set(), set(), set(), set()
        self.hooks = []  # lines
        self.calls = {}
        self.tail = ""
        for record in records(data):
            self._take(record)

    def _take(self, record):
        kind, attachment = record.get("type"), record.get("attachment")
        message = record.get("message") if isinstance(record.get("message"), dict) else {}
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        blocks = [each for each in blocks if isinstance(each, dict)] if isinstance(blocks, list) else []
        if any(record.get(key) for key in HIDDEN) or message.get("model") == "<synthetic>":
            self._hide(record)
        elif kind == "user":
            for block in blocks:
                self._of_user(record, block)
        elif kind == "assistant":
            for block in blocks:
                if block.get("type") == "tool_use":
                    self.calls[str(block.get("id"))] = block.get("name")
                    given = json.dumps(block.get("input"), ensure_ascii=False)
                    self.tools.update(pieces(f"called {block.get('name')} {given}"))
                    if block.get("name") == "AskUserQuestion":
                        for text in strings(block.get("input")):
                            self.spoke.update(pieces(text))
                elif block.get("type") == "text":
                    # Messages follow each other: an excerpt can hold the end of one and the beginning of the next.
                    self.spoke.update(pieces(f"{self.tail} {block.get('text')}"))
                    self.tail = " ".join(f"{self.tail} {block.get('text')}".split()[-8:])
                else:
                    self._hide(block)
        elif kind == "queue-operation" and record.get("operation") == "enqueue":
            self._person(record, str(record.get("content") or ""))
        elif kind == "attachment" and isinstance(attachment, dict) and attachment.get("type") == "queued_command":
            for text in strings(attachment.get("prompt")):
                self._person(record, text)
        else:
            if str((attachment or {}).get("type") if isinstance(attachment, dict) else "").startswith("hook_"):
                self.hooks += [line for text in strings(attachment) for line in text.splitlines() if len(line) >= 20]
            self._hide(record)

    def _of_user(self, record, block):
        if block.get("type") == "tool_result":
            name = self.calls.get(str(block.get("tool_use_id")), "")
            text = "\n".join(strings(block.get("content")))
            refused = REFUSED.match(text) if block.get("is_error") and not str(name).startswith("mcp__") else None
            if refused:
                self._person(record, refused[1])
            elif name == "AskUserQuestion" and not block.get("is_error"):
                self._person(record, text)
                self.spoke.update(pieces(text))  # the questions
                for each in strings(record.get("toolUseResult")):
                    self._person(record, each)
            else:
                self.tools.update(pieces("answered: " + text))
                for each in strings(record.get("toolUseResult")):
                    self.tools.update(pieces(each))
        elif block.get("type") == "text":
            decision = record.get("permissionDecision")
            approved = isinstance(decision, dict) and str(decision.get("source")).startswith("user_")
            if "toolUseResult" in record and not approved:
                self._hide(block)
            else:
                self._person(record, str(block.get("text")))

    def _person(self, record, text):
        origin = record.get("origin")
        if isinstance(origin, dict) and origin.get("kind") != "human":
            self._hide(text)
            return
        for found in [*WRAPPED.finditer(text), *FENCED.finditer(text)]:
            self._hide(found[0])
        text = WRAPPED.sub("\n", text)
        lines = [line for line in text.splitlines() if not any(line.strip() in each for each in self.hooks)]
        whole, own = "\n".join(lines), "\n".join(line for line in lines if not line.lstrip().startswith(">"))
        for each in (whole, TAGGED.sub(" ", whole), FENCED.sub(" ", own)):
            self.said.update(pieces(each))
        self.uuids.add(str(record.get("uuid") or ""))

    def _hide(self, value):
        for text in strings(value):
            self.hidden.update(pieces(text))

    def strange(self, text, allowed):
        """The pieces of a text that stand nowhere but where a text of this kind must not come from."""
        return sorted(piece for piece in pieces(text) if piece not in allowed and piece in self._others(allowed))

    def _others(self, allowed):
        return set().union(*(each for each in (self.said, self.spoke, self.tools, self.hidden) if each is not allowed))


def _wrong(sources, label, text, allowed, *, whole):
    """`whole`: every word of the text is from there; else none is from somewhere else alone."""
    found = sorted(inner(text) - allowed) if whole else sources.strange(text, allowed)
    return [f"{label}: {piece}" for piece in found[:3]]


def wrong_drafts(sources, drafts):
    """What drafts have that the person did not say."""
    found = []
    for draft in drafts:
        found += _wrong(sources, "description", draft.description, sources.said, whole=False)
        found += _wrong(sources, "name", draft.name.replace("-", " "), sources.said, whole=False)
        # A draft may tell what the agent had done.
        found += _wrong(sources, "body", draft.body, sources.said | sources.spoke, whole=False)
        found += _wrong(sources, "person", draft.person, sources.said, whole=True)
        found += _wrong(sources, "request", draft.request, sources.said, whole=True)
        found += _wrong(sources, "agent", draft.agent, sources.spoke, whole=True)
        if draft.evidence not in sources.uuids:
            found.append(f"evidence {draft.evidence}")
    return found


def wrong_heard(sources, heard):
    """What the subconscious hears from somebody who did not say it."""
    found = []
    for who, text in heard.lines:
        if who == "tool":
            # What it called or what that answered; a subagent's tools are not part of the conversation.
            only_hidden = pieces(text) & sources.hidden - sources.tools - sources.said - sources.spoke
            found += [f"tool: {piece}" for piece in sorted(only_hidden)[:3]]
        else:
            allowed = sources.said if who == "person" else sources.spoke
            found += _wrong(sources, who, text, allowed, whole=True)
    for mention in heard.mentions:
        allowed = sources.said if mention.who == "person" else sources.spoke
        found += _wrong(sources, "mention", mention.words, allowed, whole=True)
    return found
