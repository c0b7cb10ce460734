"""What a tool reports of the person: typed answers to questions."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from memtui.base import fastjson
from memtui.client.transcripts.transcript import text_of

ASK_TOOL = "AskUserQuestion"
# Characters that are kept of a question or a label.
MAX_KEPT = 2000

_ANSWERED = re.compile(
    r"^(?:User has answered your questions|Your questions have been answered|The user (?:answered|responded)): "
)
_RESPONDED = "The user responded: "
# What the client writes for a question to which somebody only wrote notes.
_NOTHING = ("(notes only)", "")
CLARIFIED = "The user wants to clarify these questions"
_ASKED = re.compile(r'^- "(?P<question>[^\n]{1,500})"$', re.MULTILINE)
_ANSWER_LINE = re.compile(r"^  (?P<what>Answer|User notes): (?P<words>[^\n]{1,2000})$", re.MULTILINE)


class TypedAnswer(NamedTuple):
    """Words that a person typed to answer a question; `question`: with the options that they picked."""

    words: str
    question: str = ""


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


def is_report(text: str) -> bool:
    """Tell whether a tool's result may be the client's report of answers, by its first words."""
    return bool(_ANSWERED.match(text))


def typed_answers(text: str, result: object, questions: object, *, from_client: bool) -> Iterator[TypedAnswer]:
    """Yield what was typed, by a report's text and the `result` beside it. `questions`: what `asked_questions` kept of
    the call; unless the text is known to be `from_client`, only the result counts, which no other tool has."""
    fields = result if isinstance(result, dict) else {}
    if fields.get("afkTimeoutMs") is not None:
        return  # nobody was there: the client went on by itself
    response = text_of(fields.get("response")) if "questions" in fields else ""
    if not response and from_client and text.startswith(_RESPONDED):
        response = text.removeprefix(_RESPONDED)
    if response:
        yield TypedAnswer(response)
    questions_by_text = _by_text([*asked_questions(questions), *asked_questions(fields.get("questions"))])
    answers, notes = fastjson.table(fields, "answers"), fastjson.table(fields, "annotations")
    for question in dict.fromkeys([*answers, *notes]):
        note = text_of(fastjson.table(notes, question).get("notes"))
        yield from _of_question(question, answers.get(question), note, questions_by_text)


def _by_text(questions: list[dict[str, object]]) -> dict[str, dict[str, object]]:
    return {text_of(question["question"]): question for question in questions}


def clarified_answers(words: str, questions: object) -> Iterator[TypedAnswer]:
    """Yield what was typed where the person refused questions to clarify them; `words` begin with CLARIFIED."""
    questions_by_text = _by_text(asked_questions(questions))
    parts = _ASKED.split(words)[1:]
    for question, lines in zip(parts[::2], parts[1::2], strict=False):
        answers = {match["what"]: match["words"] for match in _ANSWER_LINE.finditer(lines)}
        yield from _of_question(question, answers.get("Answer", ""), answers.get("User notes", ""), questions_by_text)


def _of_question(
    question: str, answer: object, notes: str, questions: Mapping[str, dict[str, object]]
) -> Iterator[TypedAnswer]:
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
        yield TypedAnswer(text, line)


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
