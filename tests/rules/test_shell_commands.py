"""A shell's line has the simple commands that bash runs for it."""

import subprocess
import time
from random import Random

import pytest
from shell_lines import NAMES, Lines, log_calls

import recorded
from memtui.rules import shell_hot
from tables import rows

# The first batch is for the quick run; the others are 3,000 lines.
SIZES = [12, *[150] * 20]


def calls_in(line, outputs):
    """The calls of stubs that the matcher sees, with what a shell puts in the place of substitutions; None for no line."""
    commands = shell_hot.simple_commands(line)
    if commands is None:
        return None
    calls = set()
    for command in commands:
        if command[0] in NAMES:
            text = "\0".join(command)
            for raw, output in sorted(outputs, key=lambda row: -len(row[0])):
                text = text.replace(raw, output)
            calls.add(tuple(text.split("\0")))
    return calls


@pytest.mark.every(step=len(SIZES))
@pytest.mark.parametrize("size", SIZES)
def test_the_commands_of_a_line_are_those_that_bash_runs(tmp_path, size):
    seed = Random().randrange(1 << 30)
    lines = Lines(seed)
    cases = [(lines.line(), lines.outputs) for _ in range(size)]
    logs = log_calls(tmp_path, [line for line, _ in cases])
    wrong = [
        (line, sorted(calls), sorted(calls_in(line, outputs) or ()))
        for (line, outputs), log in zip(cases, logs, strict=True)
        if (calls := {tuple(call) for call in log}) != calls_in(line, outputs)
    ]
    assert wrong == [], f"{len(wrong)} differ, with seed {seed}"


def damaged(draw, line):
    """A line with a piece taken out, doubled, or put elsewhere."""
    start = draw.randrange(len(line))
    end = start + draw.choice([1, 1, 1, 2, 5])
    to = draw.choice([start, end, draw.randrange(len(line))])
    rest = line[:start] + line[end:]
    return draw.choice(
        [rest, line[:to] + line[start:end] + line[to:], rest[:to] + line[start:end] + rest[to:], line[:start]]
    )


@pytest.mark.every(step=2)
@pytest.mark.parametrize("size", [12, 500])
def test_a_line_without_commands_is_one_that_bash_refuses(size):
    seed = Random().randrange(1 << 30)
    draw, lines = Random(seed), Lines(seed)
    cases = [damaged(draw, lines.line()) for _ in range(size)]
    cases = [line for line in cases if "((" not in line and "[[" not in line]  # of which -n reads but a part
    refused = [line for line in cases if shell_hot.simple_commands(line) is None]
    valid = [line for line in refused if not subprocess.run(["bash", "-n", "-c", line], capture_output=True).returncode]
    assert valid == [], f"seed {seed}"


@pytest.mark.parametrize(("line", "commands"), rows(__file__, "test_what_a_line_runs"))
def test_what_a_line_runs(line, commands):
    assert shell_hot.simple_commands(line) == [command.split() for command in commands.split("|") if command] or (
        "|".join(" ".join(words) for words in shell_hot.simple_commands(line)) == commands
    )


@pytest.mark.parametrize("line", rows(__file__, "a line that no shell takes has no commands"))
def test_a_line_that_no_shell_takes_has_no_commands(line):
    assert shell_hot.simple_commands(line) is None


PIECES = """( $(( "$( ` { if sudo eval ${x:- <<E 'a' \\ f(){ x=( $'\\x [[ a; &&""".split()


@pytest.mark.parametrize("piece", PIECES)
def test_the_worst_line_is_read_in_time(piece):
    start = time.process_time()
    for between in ("", " "):
        commands = shell_hot.simple_commands((piece + between) * (3_000 // len(piece)))
        assert commands is None or sum(map(len, commands)) < 1_000_000
    assert time.process_time() - start < 1


def test_lines_run_the_same_commands_as_ever():
    recorded.check(__file__, "shell", shell_hot.simple_commands)
