"""Whether a call of a tool gives a rule an opportunity, and whether it breaks it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recorded
from memtui.rules import match_hot, rule_hot
from tables import rows

ROOT = "/home/me/shop"
PATCH = f"""*** Begin Patch
*** Update File: src/a.ts
*** Move to: src/b.ts
@@ x
-old()
 same
+old()
+console.log(1)
*** Add File: {ROOT}/src/c.ts
+const c = 1
*** Delete File: old/d.ts
*** End Patch"""


def judged(rule, call):
    """`-` for no opportunity, the breach, or `kept`."""
    rule = rule_hot.parse(rule)
    line = match_hot.breach(rule, call, ROOT)
    if match_hot.is_opportunity(rule, call, ROOT):
        return line or "kept"
    assert line == ""
    return "-"


def of_line(line, tool="Bash"):
    return match_hot.call_of(tool, {"command": line})


@pytest.mark.parametrize(("pattern", "line", "outcome"), rows(__file__, "test_a_command_that_is_never_to_run"))
def test_a_command_that_is_never_to_run(pattern, line, outcome):
    assert judged({"never": {"command": pattern}}, of_line(line)) == outcome


@pytest.mark.parametrize(
    ("never", "instead", "line", "outcome"), rows(__file__, "a command that another is to run instead of")
)
def test_a_command_that_another_is_to_run_instead_of(never, instead, line, outcome):
    assert judged({"never": {"command": never}, "instead": {"command": instead}}, of_line(line)) == outcome


def test_each_tool_that_runs_a_shell_counts():
    rule = {"never": {"command": "npm *"}}
    assert judged(rule, of_line("npm i", "Monitor")) == "npm i"
    assert (
        judged(rule, of_line("cd C:\\shop\\web; .\\bin\\npm i 2>&1 | Select-Object -Last 3", "PowerShell")) == "npm i"
    )
    assert judged(rule, of_line("npm i | Select-String '^(a|b)' -Last 3", "PowerShell")) == "npm i"
    for line in ("npm i | % { $_ }", "npm `\n i", "@'\nnpm i\n'@"):
        assert judged(rule, of_line(line, "PowerShell")) == "-"
    assert judged(rule, of_line("npm i", "Read")) == "-"
    assert judged(rule, match_hot.call_of("Bash", {"command": 3})) == "-"


def test_only_lines_that_an_edit_adds_count():
    rule = {"never": {"text": "print(", "path": "src/**"}}
    edit = {"file_path": f"{ROOT}/src/a.py", "old_string": "a\nprint(1)\nb", "new_string": "print(1)\nc"}
    assert judged(rule, match_hot.call_of("Edit", edit)) == "kept"
    assert judged(rule, match_hot.call_of("Edit", {**edit, "new_string": "print(1)\n  print(1)"})) == "print(1)"
    assert judged(rule, match_hot.call_of("Edit", {**edit, "file_path": f"{ROOT}/tests/a.py"})) == "-"
    several = {
        "file_path": edit["file_path"],
        "edits": [{"old_string": "x", "new_string": "y"}, edit | {"old_string": ""}],
    }
    assert judged(rule, match_hot.call_of("MultiEdit", several)) == "print(1)"
    text = {"file_path": edit["file_path"], "content": "a\nprint(2)\n"}
    assert judged(rule, match_hot.call_of("Write", text)) == "print(2)"
    assert judged(rule, match_hot.call_of("Write", text, {"originalFile": "print(2)\n"})) == "kept"
    cell = {"notebook_path": f"{ROOT}/src/a.ipynb", "new_source": "print(3)"}
    assert judged(rule, match_hot.call_of("NotebookEdit", cell)) == "print(3)"
    changed = edit | {"old_string": "print(1)\nx", "new_string": "print(2)\ny"}
    assert judged(rule, match_hot.call_of("Edit", changed)) == "kept", "the line had the text before"
    doubled = edit | {"old_string": "print(1)", "new_string": "print(2)\nprint(3)"}
    assert judged(rule, match_hot.call_of("Edit", doubled)) == "print(3)"


def test_a_patch_is_an_edit_of_each_of_its_files():
    call = match_hot.call_of("apply_patch", {"input": PATCH})
    assert call.paths == ["src/b.ts", f"{ROOT}/src/c.ts", "old/d.ts"]
    assert call.added == [("src/b.ts", "console.log(1)"), (f"{ROOT}/src/c.ts", "const c = 1"), ("old/d.ts", "")]
    assert judged({"never": {"text": "console.log(", "path": "src/*.ts"}}, call) == "console.log(1)"
    assert judged({"never": {"path": "old/**"}}, call) == "old/d.ts"


@pytest.mark.parametrize(("pattern", "path", "outcome"), rows(__file__, "a file that is never to be written"))
def test_a_file_that_is_never_to_be_written(pattern, path, outcome):
    assert (
        judged({"never": {"path": pattern}}, match_hot.call_of("Write", {"file_path": path, "content": ""})) == outcome
    )
    assert judged({"never": {"path": pattern}}, of_line("rm x")) == "-"


def test_a_text_that_another_is_to_stand_instead_of():
    rule = {"never": {"text": "from zod", "path": "*.ts"}, "instead": {"text": "from zod/mini", "path": "*.ts"}}
    edit = lambda text: match_hot.call_of("Edit", {"file_path": f"{ROOT}/a.ts", "old_string": "", "new_string": text})
    assert judged(rule, edit("import z from zod/mini")) == "kept"
    assert judged(rule, edit("import z from zod/mini\nimport y from zod")) == "import y from zod"
    assert judged(rule, edit("z")) == "-"
    assert judged({"never": {"text": "a\nb"}}, edit("x a\nb")) == "a\nb"
    assert judged({"never": {"text": "a"}}, edit("")) == "-"


def test_a_text_that_stands_with_another_in_the_file():
    rule = {"always": {"text": "reset("}, "with": {"text": "stub("}}
    edit = {"file_path": f"{ROOT}/a.ts", "old_string": "x", "new_string": "stub(1)"}
    edited = lambda before, **more: match_hot.call_of("Edit", {**edit, **more}, {"originalFile": before})
    assert judged(rule, edited("x\nreset()")) == "kept"
    assert judged(rule, edited("x\n")) == "stub(1)"
    assert judged(rule, edited("reset(x) y x", old_string="reset(x)")) == "stub(1)"
    assert judged(rule, edited("reset()\nx", new_string="y")) == "-"
    assert judged(rule, edited("x x", replace_all=True, new_string="stub()reset()")) == "kept"
    assert judged(rule, match_hot.call_of("Edit", edit)) == "-"
    assert judged(rule, edited("the old string is not in it")) == "-"
    assert judged(rule, match_hot.call_of("Write", {"file_path": "b", "content": "stub("})) == "stub("
    in_place = {"always": {"text": "reset(", "path": "src/**"}, "with": {"text": "stub("}}
    assert judged(in_place, edited("x\n")) == "-"


def test_a_reply_that_has_what_it_never_is_to_have():
    rule = {"never": {"reply": "—"}}
    assert judged(rule, match_hot.Call(replies=["a\nb — c\n"])) == "b — c"
    assert judged(rule, match_hot.Call(replies=["a"])) == "kept"
    assert judged(rule, of_line("echo —")) == "-"


VALUES = st.sampled_from([None, 1, "", "a\n", "ab", "*** Add File: a\n+b", [], ["a"], [{}], [{"old_string": "a"}]])
KEYS = st.sampled_from(
    ["command", "file_path", "notebook_path", "old_string", "new_string", "content", "edits", "patch", "originalFile"]
)


@given(
    st.sampled_from([*match_hot.SHELLS, "Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch", "Read"]),
    st.dictionaries(KEYS, VALUES),
    VALUES | st.dictionaries(KEYS, VALUES),
)
def test_no_input_of_a_tool_is_too_odd(tool, tool_input, result):
    call = match_hot.call_of(tool, tool_input, result)
    assert len(call.added) == len(call.texts_after) == len(call.paths)
    judged({"never": {"text": "a"}}, call)
    judged({"always": {"text": "a"}, "with": {"text": "b"}}, call)


@given(
    st.lists(st.sampled_from(["a", "b", "ab", "*"]), min_size=1),
    st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1),
)
@example(["a", "*", "a", "*", "*", "*"], ["a"])
def test_words_fit_as_letters_fit_a_glob(pattern, words):
    """A word a letter: `*` between words does what `*` does in a word."""
    letters = {"a": "x", "b": "y", "ab": "z", "*": "*"}
    glob, word = ("".join(letters[each] for each in row) for row in (pattern, words))
    command = match_hot.Call()
    command.commands = [["do", *words]]
    text = match_hot.Call()
    text.commands = [["do", word]]
    fits = match_hot.fits(rule_hot.Pattern(command="do " + " ".join(pattern)), command, ROOT)
    assert bool(fits) == bool(
        match_hot.fits(rule_hot.Pattern(command=f"do {glob.replace('**', '*')}"), text, ROOT) or set(glob) == {"*"}
    )


def test_calls_are_judged_as_ever():
    def read(rule, tool, given):
        parsed = rule_hot.parse(rule)
        return [str(parsed), parsed.as_row(), parsed.is_enforceable, judged(rule, match_hot.call_of(tool, given))]

    recorded.check(__file__, "judgements", read, lambda _, tool, given: match_hot.call_of(tool, given))
