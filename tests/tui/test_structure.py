"""The TUI uses nothing that Textual keeps for itself; what has to is listed, with its reason."""

import ast
import inspect
import os
import re
from functools import cache

import pytest
from textual import app, await_complete, dom, message_pump, scroll_view, widget, widgets
from textual import screen as textual_screen

import memtui.tui

TOP = os.path.dirname(memtui.tui.__file__)

# A method or an attribute of a class or an instance.
NAME = re.compile(r"(?:self\.|def |^ {4})(_[a-z]\w*)", re.MULTILINE)
# (module, name) of what Textual keeps for itself and is used, or taken for something of ours, all the same, with the
# reason.
LOOP = "no public hook stands between an error in a handler and the end of the application"
GONE = "no public word tells a widget that is being removed from one that never came"
PRIVATE = {
    "app: _check_bindings": "only its answer says whether a key ran anything",
    "screens/frame: _border_title": "the property paints the whole pane again",
    "services: _notifications": "there is no public way to take one note of several away",
    "services: _unnotify": "there is no public way to take one note of several away",
    "safety_net: _closed": GONE,
    "safety_net: _closing": GONE,
    "safety_net: _pruning": GONE,
    "app: _handle_exception": LOOP,
    "textual_gaps: _dirty_regions": "what a new layout leaves is told by no other way",
    "safety_net: _dispatch_message": LOOP,
    "safety_net: _render": LOOP,
}


# Textual calls these for each class.
HANDLERS = ("_on_", "_validate_", "_watch_", "_compute_")


@cache
def trees():
    """Module, as `screens/list_screen`, to its syntax."""
    found = {}
    for directory, _, names in os.walk(TOP):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(directory, name)
                with open(path, encoding="utf-8") as file:
                    found[os.path.relpath(path, TOP)[:-3]] = ast.parse(file.read())
    return found


@cache
def kept():
    """The names that Textual's classes keep for themselves."""
    kinds = [app.App, textual_screen.ModalScreen, scroll_view.ScrollView, message_pump.MessagePump, dom.DOMNode]
    kinds += [await_complete.AwaitComplete, widget.Widget]
    kinds += [getattr(widgets, name) for name in ("Input", "TextArea", "Static", "Select", "Tree", "OptionList")]
    bases = {base for kind in kinds for base in kind.__mro__ if base.__module__.startswith("textual")}
    return {name for base in bases for name in NAME.findall(inspect.getsource(base))}


def private():
    """(module, name) of what Textual keeps for itself, where it is used, or taken."""
    found = set()
    for module, tree in trees().items():
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        own = {id(each) for node in classes if not node.bases for each in ast.walk(node) if is_own(each)}
        methods = {id(each) for node in classes if node.bases for each in node.body}
        for node in ast.walk(tree):
            name = node.attr if isinstance(node, ast.Attribute) and id(node) not in own else ""
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and id(node) in methods:
                name = node.name
            if name in kept() and not name.startswith(HANDLERS):
                found.add(f"{module}: {name}")
    return found


def is_own(node):
    """Whether it is `self.something`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


@pytest.mark.slow
def test_nothing_that_textual_keeps_for_itself_is_used_but_for_a_reason():
    assert sorted(private()) == sorted(PRIVATE)
