"""Letta agent files (`.af`): JSON with the memory blocks of agents.

Newer ones (`letta/schemas/agent_file.py`) have `agents`, with `block_ids`, and `blocks`; older ones are one agent with
`core_memory`. Some published files are such JSON in a JSON string. Messages, tools and settings are left out.
"""

import json
import re
from collections.abc import Iterator, Mapping

from memtui.core.base.phrasing import many
from memtui.transfer.incoming import Incoming, LeftOut, SourceContent, UnreadableSourceError, first_words, words_of

KIND = "letta"
# Blocks that Letta's own programs write anew: lists of skills and of files.
OWN_BLOCKS = {"skills", "loaded_skills", "memory_filesystem"}
# The descriptions with which Letta makes blocks: they say what a block is for, and nothing of what is in it.
STOCK = re.compile(r"the [\w ]{1,40} block: (?:stores?|use|contains|keeps?)\b", re.IGNORECASE)
BROKEN = "Export the agent again: in Letta's editor, “Export agent”."


def parsed(text: str) -> object:
    """Return the JSON of a file. Raises UnreadableSourceError."""
    try:
        found = json.loads(text)
        return json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError) as error:
        raise UnreadableSourceError(f"It is broken JSON: {error}.", BROKEN) from error


def is_agent_file(given: object) -> bool:
    """Whether JSON is that of an agent file."""
    return isinstance(given, dict) and (
        isinstance(given.get("core_memory"), list) or (isinstance(given.get("agents"), list) and "blocks" in given)
    )


def read(given: object, name: str) -> SourceContent:
    """Return the blocks of an agent file called `name`, the one about the person as a global memory. Raises
    UnreadableSourceError."""
    if not is_agent_file(given) or not isinstance(given, dict):
        raise UnreadableSourceError(
            f"{name} is JSON, but no Letta agent file: it has neither `blocks` nor `core_memory`.", BROKEN
        )
    agents = _rows(given.get("agents"))
    called = [str(each.get("name")) for each in agents] or [str(given.get("name") or "")]
    found = SourceContent(KIND, f"a Letta agent file ({many(len(called), 'agent')}: {', '.join(called)[:100]})")
    for agent, block in _blocks(given, agents):
        label, value = str(block.get("label") or ""), block.get("value")
        where = f"{name}: " + "/".join(filter(None, (agent, label or "a block")))
        if not isinstance(value, str) or not value.strip():
            found.skipped.append(LeftOut(where, "is empty"))
            continue
        if label in OWN_BLOCKS:
            found.skipped.append(LeftOut(where, "is a list that Letta keeps for itself"))
            continue
        told = " ".join(_text(block.get("description")).split())
        person = label in {"human", "user"} or label.startswith("human/")
        tags = block.get("tags")
        found.add(
            Incoming(
                where,
                label or "block",
                told if told and not STOCK.match(told) else first_words(value),
                value.strip("\n"),
                type="user" if person else "feedback" if label.startswith("persona") else "project",
                scope="global" if person else "",
                created=_text(block.get("created_at")),
                modified=_text(block.get("updated_at")),
                tags=words_of(tags),
            )
        )
    return found


def _text(given: object) -> str:
    return given if isinstance(given, str) else ""


def _blocks(given: Mapping[str, object], agents: list[dict[str, object]]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the blocks with the name of the agent that has each; one that several have comes once."""
    blocks = _rows(given.get("blocks"))
    for agent in agents:
        ids = agent.get("block_ids")
        own = {str(each) for each in ids} if isinstance(ids, list) else set()
        for block in blocks:
            if str(block.get("id")) in own:
                yield str(agent.get("name") or ""), block
        blocks = [each for each in blocks if str(each.get("id")) not in own]
        for part in (agent.get("memory_blocks"), agent.get("core_memory")):
            for block in _rows(part):
                yield str(agent.get("name") or ""), block
    for block in blocks:
        yield "", block
    for block in _rows(given.get("core_memory")):
        yield str(given.get("name") or ""), block


def _rows(given: object) -> list[dict[str, object]]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
