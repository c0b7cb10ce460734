"""What a person says to the agent in a terminal, beside prompts. Each channel says words there and yields the terminal when
the agent has answered them: "Answer one.", as it does to everything from then on.

`aside` answers the requests that are not the session's, and is None for those that are.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from waiting import eventually

from .client import World
from .model import Block, Model, Request, call, say, use
from .terminal import Terminal

Aside = Callable[[Request], Any]
UP, ENTER, SHIFT_TAB = "\x1b[A", "\r", "\x1b[Z"
TASK = "install the dependencies"
QUESTION = "Which package manager should I use?"
OPTIONS = ("npm", "yarn")
PLAN = "# Plan\n\n1. Run npm install\n2. Run the tests\n"
PLAN_FILE = re.compile(r"(/[^\n`\"'<>]*?/plans/[\w-]+\.md)")


def nobody(_: Request) -> None:
    """No requests but those of the session."""


def question(*options: str, **more: str) -> Block:
    """The agent asks which option to take. `more`: further fields of each option."""
    given = [{"label": each, "description": "one of them", **more} for each in options]
    asked = {"question": QUESTION, "header": "Manager", "multiSelect": False, "options": given}
    return use("AskUserQuestion", questions=[asked])


@contextmanager
def begun(on: World, model: Model, aside: Aside, *replies: Any) -> Iterator[Terminal]:
    """The session of a person who has given the agent a task, to which it replies so."""
    left = list(replies)
    model.script = lambda request: aside(request) or (left.pop(0) if left else "Answer one.")
    with Terminal(on) as terminal:
        terminal.say(TASK)
        yield terminal


@contextmanager
def answered(on: World, model: Model, words: str, aside: Aside = nobody) -> Iterator[Terminal]:
    """The answer to a question, typed instead of picking an option."""
    with begun(on, model, aside, call(question(*OPTIONS))) as terminal:
        terminal.see("Which package manager")
        terminal.press("3", words, ENTER)  # behind the two options it is the field for another answer
        terminal.see("Answer one")
        yield terminal


@contextmanager
def noted(on: World, model: Model, words: str, aside: Aside = nobody) -> Iterator[Terminal]:
    """A note to a question, of which no option is picked."""
    with begun(on, model, aside, call(question(*OPTIONS, preview="install"))) as terminal:
        terminal.see("Which package manager")
        terminal.press("n", words, ENTER, ENTER)
        terminal.see("Answer one")
        yield terminal


@contextmanager
def refused(on: World, model: Model, words: str, aside: Aside = nobody) -> Iterator[Terminal]:
    """The refusal of a tool."""
    with begun(on, model, aside, call(use("Bash", command="touch x"), text="I run npm install.")) as terminal:
        terminal.see("Do you want to proceed")
        terminal.refuse(words)
        terminal.see("Answer one")
        yield terminal


@contextmanager
def approved(on: World, model: Model, words: str, aside: Aside = nobody) -> Iterator[Terminal]:
    """What is added to the approval of a tool."""
    with begun(on, model, aside, call(use("Bash", command="touch made-by-npm"))) as terminal:
        terminal.see("Do you want to proceed")
        terminal.approve(words)
        terminal.see("Answer one")
        yield terminal


@contextmanager
def in_mid_turn(on: World, model: Model, words: str, aside: Aside = nobody) -> Iterator[Terminal]:
    """A message that is typed before a tool runs: it goes to the agent with the tool's result."""
    on.allow("Bash")
    tool = call(use("Bash", command="touch x"), text="I run npm install.", delay=2)
    with begun(on, model, aside, tool) as terminal:
        assert eventually(lambda: model.main)
        terminal.say(words)
        terminal.see("Answer one")
        yield terminal


@contextmanager
def at_its_end(on: World, model: Model, words: str, aside: Aside = nobody) -> Iterator[Terminal]:
    """A message that is typed while the last answer of a turn comes: it is the next prompt."""
    with begun(on, model, aside, say("I ran npm install.", delay=2)) as terminal:
        assert eventually(lambda: model.main)
        terminal.say(words)
        terminal.see("Answer one")
        yield terminal


@contextmanager
def on_a_plan(on: World, model: Model, words: str, aside: Aside, key: str, outcome: str) -> Iterator[Terminal]:
    """What is said to a plan; the key tells what becomes of it, and the agent is told of this outcome."""
    results: list[str] = []

    def script(request: Request) -> Any:
        if (found := aside(request)) is not None:
            return found
        results[:] = request.tool_results()
        if not results:
            path = PLAN_FILE.search(request.text())[1]
            return call(use("Write", file_path=path, content=PLAN), text="I will run npm install.")
        return call(use("ExitPlanMode"), text="Here is my plan.") if len(results) == 1 else "Answer one."

    model.script = script
    with Terminal(on, "--permission-mode", "plan") as terminal:
        terminal.say(TASK)
        terminal.see("Would you like to proceed")
        terminal.press(UP, words, key)  # the last answer is: tell Claude what to change
        terminal.see("Answer one")
        assert outcome in results[-1]
        yield terminal


def plan_sent_back(on: World, model: Model, words: str, aside: Aside = nobody) -> AbstractContextManager[Terminal]:
    """What is to change in a plan."""
    return on_a_plan(on, model, words, aside, ENTER, "want to proceed")


def plan_approved(on: World, model: Model, words: str, aside: Aside = nobody) -> AbstractContextManager[Terminal]:
    """What is added to the approval of a plan."""
    return on_a_plan(on, model, words, aside, SHIFT_TAB, "approved your plan")


CHANNELS = {
    each.__name__: each
    for each in (answered, noted, refused, approved, in_mid_turn, at_its_end, plan_sent_back, plan_approved)
}
