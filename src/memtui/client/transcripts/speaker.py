"""Who spoke: whether a record of a transcript holds a person's own words, and which. The client says so in fields that
differ between versions (docs/hooks.md). A record that names nobody is a person's; one with an unknown value is not."""

import re
from collections.abc import Iterator, Mapping

from memtui.base import fastjson_hot, word_lists
from memtui.base.phrasing_hot import cut
from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.transcript_hot import text_of

# Characters of a message that are read.
MAX_TEXT = 20_000
# Records that are no part of the conversation with the person: a subagent's, and what the client says of itself.
ASIDE = ("isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# Marks of a text that nobody typed here: by the client itself, handed over by another agent, from a chat of others.
_NOT_TYPED = ("isMeta", "textNotTyped", "handedOff", "queueTranscriptOnly", "verifiedSlackHumanTurn", "wakeupSource")
# The values that stand for a person, by field (2.1.332): `sdk` for `claude -p`; no `suggestion_accepted` of a model.
_PERSONAL: dict[str, tuple[str, ...]] = {
    "rowSource": ("local",),
    "commandMode": ("prompt",),
    "turnOrigin": ("human", "sdk", "unknown"),
    "promptSource": ("typed", "queued", "sdk"),
}
_WRAPPED = re.compile(
    r"<(?P<tag>[a-z]+(?:[-_][a-z0-9]+)+|objective|context|summary|process|command|hook|tool_use_error)\b[^>\n]{0,400}>"
    r"(?:[\s\S]*?</(?P=tag)>|[\s\S]*\Z)",
    re.IGNORECASE,
)
INTERRUPTED = re.compile(r"^\[Request interrupted by user[^\]]*\]\s*$", re.MULTILINE)
_IMAGE = re.compile(r"\[(?:Image|Pasted text|Image: source)[^\]\n]{0,300}\]")
_NOT_A_PERSON = tuple(word_lists.read(__file__.removesuffix("py") + "txt")["beginnings"].split("\n"))
_COMMAND = re.compile(r"^/[\w:-]+(?:\s|$)")
_REFUSED = r"^(?:Error: )?(?:The user doesn['’]t want to (?:proceed|take)|Permission for this tool use was denied"
_REJECTED = re.compile(rf"{_REFUSED})[^\n]{{0,400}}?the user said:\s*(?P<words>[\s\S]+)", re.IGNORECASE)
STOPPED = re.compile(rf"{_REFUSED}|\[Request interrupted by user)", re.IGNORECASE)
_NOTE = re.compile(r"\n+Note: The user['’]s next message may contain[\s\S]*\Z")
PLAN_PROMPT = "Implement the following plan:"
_PLAN_FEEDBACK = "User feedback on this plan:"
# The prefix of tools of other programs, whose errors can be any text.
FOREIGN_TOOL = "mcp__"
# Characters of a request that are kept.
LONGEST = 300
# Fewer words than this (“yes”, “go on then”) continue the request before.
LEAST_WORDS = 3
_PASTED = re.compile(r"(?:```|~~~)[\s\S]*?(?:```|~~~|\Z)|^\s*>.*$", re.MULTILINE)


def is_human_origin(record: dict[str, object]) -> bool:
    """Tell whether the `origin` of a record, if it has one, is a person, and no notification, peer or channel."""
    origin = record.get("origin")
    return origin is None or (isinstance(origin, dict) and origin.get("kind") == "human")


def is_person(record: dict[str, object]) -> bool:
    """Tell whether a person wrote the text of a `user` record, or of a `queued_command` attachment."""
    for part in (record, transcript_hot.attachment(record)):
        if not is_human_origin(part) or any(part.get(mark) for mark in (*ASIDE, *_NOT_TYPED)):
            return False
        if any(part.get(key) not in (None, *values) for key, values in _PERSONAL.items()):
            return False
    return True


def prompt_text(record: dict[str, object]) -> str:
    """Return the text of a person's prompt; empty for every other record."""
    if record.get("type") != "user" or "toolUseResult" in record or not is_person(record):
        return ""
    return "\n".join(text_of(part.get("text")) for part in transcript_hot.blocks(record) if part.get("type") == "text")


def queued_text(command: dict[str, object]) -> str:
    """Return the text of a `queued_command` attachment."""
    prompt = command.get("prompt")
    parts = prompt if isinstance(prompt, list) else [{"text": prompt}]
    return "\n".join([text_of(part.get("text")) for part in parts if isinstance(part, dict)])


def own_words(text: str) -> str:
    """Return the person's own words in the text of a user record; empty if there are none."""
    text = text_of(text[:MAX_TEXT]).replace("\r\n", "\n").replace("\r", "\n").strip()
    if text.startswith(_NOT_A_PERSON) or _COMMAND.match(text):
        return ""
    if text.startswith(PLAN_PROMPT):
        text = text.partition(_PLAN_FEEDBACK)[2]
    if "<" in text:
        text = _WRAPPED.sub("\n", text)
    text = INTERRUPTED.sub("", text)
    text = _IMAGE.sub("", text)
    return "" if text.strip().startswith(_NOT_A_PERSON) else text.strip()


def argument(given: object) -> str:
    """Return the first text among a call's arguments, as one line."""
    texts = [value for value in given.values() if isinstance(value, str)] if isinstance(given, dict) else []
    return " ".join(text_of(texts[0][:MAX_TEXT]).split()) if texts else ""


def on_plan(record: dict[str, object], text: str) -> tuple[str, str]:
    """Return what the person added to a plan that they approved for a new conversation, and the plan."""
    plan = text_of(record.get("planContent"))
    rest = text.removeprefix(PLAN_PROMPT).lstrip("\n")
    # A plan may have the very words that come before what the person added.
    before, mark, words = rest.removeprefix(plan).rpartition("\n" + _PLAN_FEEDBACK)
    return (words.strip(), plan or before.strip()) if mark else ("", plan or rest)


def is_approved(record: dict[str, object], block: dict[str, object]) -> bool:
    """Tell whether the text beside a tool's result is what a person added when they approved it."""
    decision = record.get("permissionDecision")
    if isinstance(decision, dict):
        return decision.get("decision") != "reject" and text_of(decision.get("source")).startswith("user_")
    return block.get("is_error") is not True


def refusal(record: dict[str, object], block: dict[str, object], tool: str) -> str:
    """Return a person's words on refusing a `tool`; empty for the output of a program."""
    if block.get("is_error") is not True:
        return ""
    kind, decision = record.get("toolDenialKind"), record.get("permissionDecision")
    if kind is not None or isinstance(decision, dict):
        source = decision.get("source") if isinstance(decision, dict) else None
        by_person = kind == "user-rejected" or source == "user_reject"
    else:
        by_person = not tool.startswith(FOREIGN_TOOL) and "mcpMeta" not in record
    match = _REJECTED.match(transcript_hot.result_text(block)[: 4 * MAX_TEXT]) if by_person else None
    return _NOTE.sub("", match["words"]).strip() if match else ""


def request_of(text: str) -> str:
    """Return what a prompt asks for, on one line and cut at a word; empty if it only goes on with what was asked."""
    line = " ".join(_PASTED.sub(" ", text).split())
    if len(line.split()) < LEAST_WORDS and (line.isascii() or len(line) < 2 * LEAST_WORDS):
        return ""
    return cut(line, LONGEST)


# Typed answers to the agent's questions

ASK_TOOL = "AskUserQuestion"
# Characters that are kept of a question or a label.
MAX_KEPT = 2000
_RESPONDED = "The user responded: "
# What the client writes for a question to which somebody only wrote notes.
_NOTHING = ("(notes only)", "")


def asked_questions(questions: object) -> list[dict[str, object]]:
    """Return of the questions of a call what is needed to tell picked options from typed words."""
    return [
        {
            "question": text_of(question.get("question"))[:MAX_KEPT],
            "multiSelect": question.get("multiSelect") is True,
            "options": [{"label": label[:MAX_KEPT]} for label in _labels(question) if label],
        }
        for question in _dicts(questions)
    ]


def _dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def typed_answers(text: str, result: object, questions: object) -> Iterator[tuple[str, str]]:
    """Yield typed words and the question with the options picked, by what the client says; `questions`: of the call."""
    fields = result if isinstance(result, dict) else {}
    if fields.get("afkTimeoutMs") is not None:
        return  # nobody was there: the client went on by itself
    response = text_of(fields.get("response")) or (text.removeprefix(_RESPONDED) if text.startswith(_RESPONDED) else "")
    if response:
        yield response, ""
    every = [*asked_questions(questions), *asked_questions(fields.get("questions"))]
    questions_by_text = {text_of(question["question"]): question for question in every}
    answers, notes = fastjson_hot.table(fields, "answers"), fastjson_hot.table(fields, "annotations")
    for question in dict.fromkeys([*answers, *notes]):
        note = text_of(fastjson_hot.table(notes, question).get("notes"))
        yield from _of_question(question, answers.get(question), note, questions_by_text)


def _of_question(
    question: str, answer: object, notes: str, questions: Mapping[str, dict[str, object]]
) -> Iterator[tuple[str, str]]:
    entry = questions.get(question)
    entries = [entry] if entry is not None else list(questions.values())
    labels = {_low(label) for part in entries for label in _labels(part) if label}
    parts = answer if isinstance(answer, list) else [answer]
    if entry is not None and entry["multiSelect"] and isinstance(answer, str):
        parts = _split(answer, labels)
    words = [text for part in parts if (text := text_of(part).strip()) not in _NOTHING]
    picked = [part for part in words if _low(part) in labels]
    line = f"{question} → {', '.join(picked)}" if picked else question
    # Without the options nothing tells typed words from picked ones.
    own = [part for part in words if _low(part) not in labels] if entries else []
    for text in filter(None, (", ".join(own), notes.strip())):
        yield text, line


def _split(answer: str, labels: set[str]) -> list[str]:
    """Split an answer into picked options, which may have a comma, and the words between them."""
    parts, picked, own = answer.split(", "), [], []
    at = 0
    while at < len(parts):
        end = next((end for end in range(len(parts), at, -1) if _low(", ".join(parts[at:end])) in labels), 0)
        if end:
            picked.append(", ".join(parts[at:end]))
        else:
            own.append(parts[at])
        at = end or at + 1
    return [*picked, ", ".join(own)]


def _labels(question: Mapping[str, object]) -> list[str]:
    return [text_of(option.get("label")) for option in _dicts(question.get("options"))]


def _low(text: str) -> str:
    return " ".join(text.lower().split())
