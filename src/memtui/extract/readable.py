"""Which turns of a session a model reads for drafts: those with words of the person that no rule made a draft of."""

from collections.abc import Callable, Container, Iterable
from dataclasses import replace

from memtui.core.client.conversation import Turn
from memtui.extract import phrases, signals

# Characters: the fewest of a person's words, and the most of these, of the agent's before them, and of all turns.
LEAST, MOST_WORDS, MOST_AGENT, MOST_ALL = 8, 2000, 700, 40_000


def chosen(turns: Iterable[Turn], drafted: Container[str], was_injected: Callable[[str], bool]) -> list[Turn]:
    """Return the turns to read, in their order, with nothing but the person's own words: no code, quotation or log, and
    no line that a hook gave the model. Of many the newest; `drafted`: the records that have a draft already."""
    found: list[Turn] = []
    room = MOST_ALL
    for turn in reversed(list(turns)):
        if (turn.uuid and turn.uuid in drafted) or phrases.MACHINE.match(turn.text):
            continue
        own = signals.own_words(turn.text)
        words = "\n".join([line for line in own.splitlines() if not was_injected(line)])[:MOST_WORDS].strip()
        if len(words) < LEAST:
            continue
        kept = replace(turn, text=words, agent=turn.agent[-MOST_AGENT:])
        room -= len(kept.text) + len(kept.agent)
        if room < 0:
            break
        found.append(kept)
    return found[::-1]
