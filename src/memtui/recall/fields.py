"""The fields of a memory that an index holds, and what each counts."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from memtui.base import clock_hot
from memtui.recall import content_hot, gloss_hot, topics, words_hot
from memtui.rules import rule_hot
from memtui.store import links, memory
from memtui.store import triggers as own_triggers
from memtui.store.frontmatter import document, head_hot

# How much a term counts, by the field that it is in. What a heading or a link says is in the body, too.
WEIGHTS = {"name": 3, "description": 2, "headings": 1, "links": 1, "body": 1, "triggers": 3}
HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)
EXPIRES = tuple(field.decode() for field in content_hot.EXPIRES)  # the fields that say when a memory expires
MOST_BYTES = 1 << 20  # bytes of a memory that are indexed


@dataclass
class Fields:
    """What an index holds of one memory. `expires`: seconds since the epoch, 0.0 for never; `paths`: globs that it is
    bound to; `rules`: those that a hook enforces; `checks`: its own; `texts`: of each field of WEIGHTS."""

    name: str
    description: str
    type: str
    pinned: bool = False
    expires: float = 0.0
    paths: tuple[str, ...] = ()
    rules: tuple[dict[str, object], ...] = ()
    checks: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)

    def weights(self) -> dict[str, int]:
        """Return how much each term, also of the English words, counts: how often a field has it, times its weight."""
        weights: Counter[str] = Counter()
        language = gloss_hot.language("\n".join(self.texts.values()))
        for name, text in self.texts.items():
            weight = WEIGHTS[name]
            terms = words_hot.terms("\n".join(self.triggers) if name == "triggers" else text)
            if name == "triggers":  # how somebody asked tells nothing, what for does
                terms = [term for term in terms if term not in words_hot.COMMON]
            for term in (*terms, *(words_hot.terms(gloss_hot.english(text, language)) if language else ())):
                weights[term] += weight
        return weights

    @property
    def triggers(self) -> list[str]:
        """The trigger lines that say more than a greeting."""
        return [line for line in self.texts["triggers"].split("\n") if words_hot.tells(line)]

    @cached_property
    def condition(self) -> str:
        """The words for what it is about, if it is a standing instruction by its description or a short body."""
        body, begin = self.texts["body"], self.texts["body"].strip().partition("\n\n")[0]
        return topics.clause(self.description) or (topics.clause(begin) if len(body) <= topics.MOST_READ else "")

    def topics(self) -> list[tuple[str, ...]]:
        """Return the terms of each topic of a standing instruction, as its condition and its triggers name them."""
        condition = self.condition
        return [*topics.split(condition), *filter(None, map(topics.telling, self.triggers if condition else ()))]

    def passages(self) -> list[str]:
        """Return the texts compared, in English if known: all (of a standing instruction its topic), and triggers."""
        whole = self.condition or f"{self.name}\n{self.description}\n{self.texts['body']}"
        return [gloss_hot.in_english(text) for text in (whole, *self.triggers)]


def read(data: bytes, file: str, triggers: Iterable[str] = ()) -> Fields:
    """Read the fields of a memory's bytes, and its `triggers`; `file` names one without a name. Never raises."""
    data = data[:MOST_BYTES]
    doc = document.parse(data)
    name, description, kind = head_hot.summarise(data)
    if content_hot.in_conflict(data):
        name = description = ""
    stem = file[file.rfind("/") + 1 :].removesuffix(".md")
    name = name or stem
    lines = [*own_triggers.in_frontmatter(doc.fields), *triggers]
    title = name if name == stem else f"{name}\n{stem}"
    targets = [link.target.removesuffix(".md") for link in links.find(doc.body)]
    texts = {"name": title, "description": description, "headings": "\n".join(HEADING.findall(doc.body))}
    texts |= {"links": "\n".join(targets), "body": doc.body, "triggers": "\n".join(lines)}
    expires = clock_hot.parse(memory.text_of(doc.fields, *EXPIRES)) or 0.0
    rules = tuple(rule.as_row() for rule in rule_hot.parse_all(doc.fields)[0] if rule.enforce)
    paths, checks = tuple(_listed(doc.fields, "paths")), tuple(memory.own_checks(doc.fields))
    return Fields(name, description, kind, memory.is_pinned(doc.fields), expires, paths, rules, checks, texts)


def _listed(fields: Mapping[str, object], key: str) -> list[str]:
    """Return the lines of a field that is a list, or a text with commas or on several lines."""
    nested = fields.get("metadata")
    value = fields.get(key, nested.get(key) if isinstance(nested, dict) else None)
    if isinstance(value, list):
        return [str(item) for item in value if isinstance(item, str) and item.strip()]
    if isinstance(value, str):
        lines = value.split("\n") if "\n" in value else value.split(",")
        return [line.strip() for line in lines if line.strip()]
    return []
