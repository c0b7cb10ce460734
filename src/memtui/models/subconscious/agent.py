"""What the model of the subconscious is told after a turn (rules, blocks, what it noted earlier, what is new), and what
its answer may be: looks at files, a few times; then changes of blocks, whispers and replies. Each is checked against
what was said (transcript_view.py), so that no tool's output puts words into its mouth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memtui.base import clock_hot, ids_hot, visible_hot
from memtui.base.similarity import holds, rule_of
from memtui.client.transcripts.conversation import normalised
from memtui.models.call import Schema
from memtui.models.model import RULE, LanguageModel, fenced
from memtui.models.prompts import PROMPTS
from memtui.models.selection import CatalogueEntry
from memtui.models.subconscious import block_files_hot, transcript_view
from memtui.models.subconscious.control import PURPOSE
from memtui.models.subconscious.project_files import NAMES, Tools
from memtui.models.subconscious.runs import MOST as MOST_WHISPER
from memtui.models.subconscious.runs import Run, Whisper
from memtui.models.subconscious.trace import Trace
from memtui.models.subconscious.transcript_view import QUOTE_CHARS, QUOTE_WORDS, RUN_WORDS
from memtui.redact.redact import redacted
from memtui.store.relative_dates import dated

# Answers that may ask to look at files, and looks of one; changes, whispers and replies of an answer.
STEPS, LOOKS, EDITS, WHISPERS, REPLIES = 4, 5, 8, 2, 10
CATALOGUE_LINE, MEMORIES = 160, 60
EARLIER, EARLIER_ALL = 600, 8000  # characters of a remark, and of all that are told again: some 2,000 tokens a run
# Changes that the person undid, of which it is told, and characters of each.
UNDONE, UNDONE_LINE = 15, 200
# Characters of a note; a longer one is cut.
NOTE = 2000
ANSWER_TOKENS = 6000


def form_of_answer(may_look: bool) -> Schema:
    """Return the JSON schema of an answer; with `may_look`, one that may ask to look at files."""

    def several(most: int, needed: Sequence[str], **properties: Any) -> Schema:
        """Return the form of a list of objects; a number is that of the characters of a text, at most."""
        texts = {
            key: {"type": "string", "maxLength": limit} for key, limit in properties.items() if isinstance(limit, int)
        }
        return {"type": "array", "maxItems": most, "items": _object(properties | texts, needed)}

    block, tool = ({"type": "string", "enum": list(names)} for names in (block_files_hot.BLOCKS, NAMES))
    edit = {"block": block, "old": block_files_hot.MOST, "new": block_files_hot.MOST, "quote": 2000}
    whisper = {"text": 4 * MOST_WHISPER, "quote": 2000, "urgent": {"type": "boolean"}}
    parts: Schema = {
        "edits": several(EDITS, tuple(edit), **edit),
        "whispers": several(WHISPERS, ("text", "quote"), **whisper),
        "replies": several(REPLIES, ("to", "text"), to=20, text=4 * MOST_WHISPER),
        "note": {"type": "string", "description": f"at most {NOTE} characters"},
    }
    if may_look:
        parts["looks"] = several(LOOKS, ("tool", "path"), tool=tool, path=1000, text=200)
    return _object(parts)


def _object(properties: Schema, needed: Sequence[str] = ()) -> Schema:
    return {"type": "object", "properties": properties, "required": list(needed), "additionalProperties": False}


@dataclass(frozen=True)
class Situation:
    """What the subconscious knows when it is asked. `earlier`: its runs of the session, newest first; `mentions`: (id,
    who, words) that wait for a reply; `known`: the catalogue of memories; `undone`: as `Blocks.undone` lists it; `top`:
    the directory that it may look at, empty for none; `own_tools`: what it is told of tools that are not run here."""

    directives: str
    blocks: Mapping[str, str]
    earlier: Sequence[Run]
    heard: transcript_view.Heard
    mentions: Sequence[tuple[str, str, str]]
    known: Sequence[CatalogueEntry]
    undone: Sequence[tuple[str, Sequence[str], Sequence[str]]] = ()
    top: str = ""
    own_tools: str = ""


@dataclass
class Wishes:
    """What an answer asks for that is allowed: `edits` (block, old, new), `whispers`, `replied` ids; why `refused`."""

    edits: list[tuple[str, str, str]] = field(default_factory=list)
    whispers: list[Whisper] = field(default_factory=list)
    replied: set[str] = field(default_factory=set)
    note: str = ""
    looks: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def ask(model: LanguageModel, situation: Situation, wishes: Wishes, trace: Trace) -> None:
    """Ask the model about what is new, and put its wishes into `wishes`. Raises ModelError, MemtuiError."""
    looker = Tools(situation.top) if situation.top else None
    looks_text = "\n".join(filter(None, (PROMPTS["looks"] if looker else "", situation.own_tools)))
    rules = PROMPTS["subconscious"].format(
        directives=situation.directives, rule=RULE, looks=looks_text, characters=block_files_hot.MOST,
        quote_words=QUOTE_WORDS, quote_chars=QUOTE_CHARS, run_words=RUN_WORDS,
    )  # fmt: skip
    prompt, steps = _told(situation), 0
    own = [text for run in situation.earlier for kind, text in run.remarks() if kind in {"noted", "whispered"}]
    person, agent = (
        [*situation.heard.said(who), *(words for _, by, words in situation.mentions if by == who)]
        for who in (transcript_view.PERSON, transcript_view.AGENT)
    )
    evidence = transcript_view.Sources(person, agent, [*situation.blocks.values(), *own], situation.heard.printed())
    while True:
        answer = model.ask(
            PURPOSE, rules, prompt, form_of_answer(looker is not None and steps < STEPS), head=_head(situation),
            most=ANSWER_TOKENS, left_out=lambda why: wishes.refused.append(f"a part of the answer: {line(why)}"),
        )  # fmt: skip
        steps += 1
        for text in trace.texts:
            evidence.read(text)
        trace.texts.clear()
        looks = answer.get("looks") or []
        if not (looker and looks):
            _allow(answer, situation, evidence, wishes)
            return
        for number, look in enumerate(looks[:LOOKS]):
            path, text = str(look["path"]), str(look.get("text") or "")
            call = f"{look['tool']} {line(path)} {line(text)}".strip()
            step = f"look-{steps}-{number}"
            trace.begin(step, look["tool"], {"path": path, "text": text})
            looked = looker.run(look["tool"], path, text)
            trace.end(step, looked.text, failed=looked.refused)
            if looked.refused:
                wishes.refused.append(f"{call}: {looked.text}")
                trace.texts.pop()
            else:
                wishes.looks.append(call)
            prompt += "\n\n" + fenced("found", looked.text, look=call)
        if beside := " and ".join(key for key in ("edits", "whispers", "replies") if answer.get(key)):
            wishes.refused.append(f"{beside} beside looks: an answer that looks at files does nothing else")
            prompt += f"\n\nNothing was done of your {beside}: give them again, without `looks`."


def _head(situation: Situation) -> str:
    """Return what the answers about one session share: blocks, what was undone in them, and memories."""
    parts = []
    for name, (of_project, purpose) in block_files_hot.BLOCKS.items():
        if name != block_files_hot.DIRECTIVES:
            shared = "no" if of_project else "yes"
            parts.append(fenced("block", situation.blocks.get(name, ""), name=name, holds=purpose, shared=shared))
    undone = []
    for name, removed, back in situation.undone:
        sides = [(word, "; ".join(lines)) for word, lines in (("gone", removed), ("back", back)) if lines]
        undone.append(f"- {name}: " + ", ".join(f"{word} “{cut(text, UNDONE_LINE)}”" for word, text in sides))
    if undone:
        parts.append(PROMPTS["undone"] + "\n" + fenced("undone", "\n".join(undone)))
    lines = [f"- {line(each.name)}: {line(each.description)[:CATALOGUE_LINE]}" for each in situation.known[:MEMORIES]]
    return "\n\n".join([*parts, fenced("memories", "\n".join(lines))])


def _told(situation: Situation) -> str:
    parts = [told_again(situation.earlier)]
    if situation.heard.in_midst:
        parts.append("(The session began earlier; you have not read that.)")
    if situation.heard.left_out:
        parts.append(f"({situation.heard.left_out} older messages are left out.)")
    parts += [fenced(who, text) for who, text in situation.heard.lines]
    parts += [fenced("mention", words, id=name, by=who) for name, who, words in situation.mentions]
    return "\n\n".join(filter(None, parts)) or "Nothing new was said."


def told_again(earlier: Sequence[Run]) -> str:
    """Return what it is told of its runs so far, given newest first: the newest remarks that fit, oldest first."""
    lines: list[str] = []
    room = EARLIER_ALL
    for kind, text in (remark for run in earlier for remark in reversed(run.remarks())):
        lines.insert(0, f"- {kind}: {cut(text, EARLIER)}")
        room -= len(lines[0])
        if room < 0:
            return fenced("earlier", "\n".join(lines[1:]))
    return fenced("earlier", "\n".join(lines)) if lines else ""


def _allow(answer: Mapping[str, Any], situation: Situation, evidence: transcript_view.Sources, wishes: Wishes) -> None:
    """Put into `wishes` what is allowed of an answer, and what is not."""
    refuse = wishes.refused.append
    for edit in answer.get("edits") or []:
        name, new = edit["block"], str(edit["new"])
        shared = not block_files_hot.BLOCKS[name][0]
        if name == block_files_hot.DIRECTIVES:
            refuse(f"a change of {name}: only its person changes it")
        elif not evidence.quoted(edit["quote"], person=shared):
            refuse(f"a change of {name}: it quotes no words{' of the person' * shared} that show it")
        elif words := evidence.repeats(new, person=shared):
            refuse(f"a change of {name}: it repeats what nobody said: {line(words)[:80]}")
        elif not edit["old"] and (memory := _memory_of(new, situation.known)):
            refuse(f"a change of {name}: the memory {line(memory)} says that already")
        else:
            today = datetime.fromtimestamp(clock_hot.now()).astimezone().date()
            wishes.edits.append((name, str(edit["old"]), dated(new, today)))
    texts = {normalised(whisper.text) for run in situation.earlier for whisper in run.whispers}
    for whisper in answer.get("whispers") or []:
        text = _message(whisper["text"])
        if normalised(text) in texts:
            refuse(f"a note that this session was given already: {line(text)[:80]}")
        elif not evidence.quoted(whisper["quote"]):
            refuse(f"a note that quotes nothing that was said: {line(text)[:80]}")
        elif words := evidence.repeats(text):
            refuse(f"a note that repeats what nobody said: {line(words)[:80]}")
        elif text:
            texts.add(normalised(text))
            urgent = whisper.get("urgent") is True
            wishes.whispers.append(Whisper(ids_hot.new_id(), text, urgent, because=line(whisper["quote"])[:300]))
    waiting = {name: words for name, _, words in situation.mentions}
    for whisper in answer.get("replies") or []:
        name, text = str(whisper["to"]).strip(), _message(whisper["text"])
        # Whoever asks may be told what a file says; what a tool printed for the agent tells it nothing new.
        if words := evidence.repeats(text, files=False):
            refuse(f"a reply that repeats what a tool printed: {line(words)[:80]}")
        elif name in waiting and text:
            wishes.whispers.append(Whisper(ids_hot.new_id(), text, reply=waiting.pop(name)))
            wishes.replied.add(name)
    note = line(answer.get("note") or "")
    if words := evidence.repeats(note):
        refuse(f"a note that repeats what nobody said: {line(words)[:80]}")
    else:
        wishes.note = cut(note, NOTE)


def _memory_of(text: str, memories: Sequence[CatalogueEntry]) -> str:
    """Return the name of a memory whose description says all of a text, as one does that the agent has just saved."""
    rule = rule_of(text)
    return next((memory.name for memory in memories if holds(rule, rule_of(memory.description))), "")


def _message(text: object) -> str:
    """Return what is said to a session, without secrets: half of one would not be recognised."""
    return redacted(visible_hot.clean(str(text)).strip())[:MOST_WHISPER]


def change(name: str, old: str, new: str) -> str:
    if not old:
        return cut(f"{name}: added “{new}”", NOTE)
    return cut(f"{name}: “{old}” became “{new}”" if new else f"{name}: removed “{old}”", NOTE)


def line(text: object) -> str:
    """Return a text on one line, without secrets: their lines tell some of them apart."""
    return visible_hot.one_line(redacted(visible_hot.clean(str(text))))


def cut(text: object, most: int) -> str:
    """Return a text on one line of at most `most` characters; a longer one ends with an ellipsis."""
    text_line = line(text)
    return text_line if len(text_line) <= most else text_line[: most - 1].rstrip() + "…"
