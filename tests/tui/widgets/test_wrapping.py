"""How the text beside a list is broken into lines."""

import pytest
from rich.text import Text

from memtui.tui.widgets.detail import wrapped
from tui.conftest import settle


def lines(text, width):
    return [line.plain for line in wrapped(text, width)[0]]


def test_what_follows_a_label_stands_right_of_it():
    text = Text().append("index     ", "dim").append("line 1: Answer in a few sentences, code first")
    assert lines(text, 34) == ["index     line 1: Answer in a few", "          sentences, code first"]


def test_a_path_is_broken_at_its_slashes():
    text = Text("/home/you/.claude/projects/-home-you-shop/memory/concise-answers.md", "dim")
    assert lines(text, 30) == ["/home/you/.claude/projects/", "-home-you-shop/memory/", "concise-answers.md"]


def test_what_is_said_of_a_letter_stays_at_it_when_the_line_is_broken():
    text = Text("Use pnpm for every install and script, and never npm.").append("\nsecond\n")
    text.stylize("bold", text.plain.index("never"), text.plain.index("never") + 5)
    made, starts = wrapped(text, 30)
    assert [line.plain[span.start : span.end] for line in made for span in line.spans] == ["never"]
    assert [text.plain[start : start + 3] for start in starts] == ["Use", "scr", "sec", ""]


def test_wide_letters_fit():
    made = lines(Text().append("note      ", "dim").append("数据库数据库数据库数据库数据库"), 26)
    assert max(Text(line).cell_len for line in made) <= 26
    assert "".join(line.strip() for line in made).endswith("库")


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_a_note_of_any_length_is_shown_to_its_last_word(app, size):
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        for length in range(size[0] - 6, size[0] + 2):
            end = f"END{length}"
            app.say("ab " * ((length - len(end)) // 3) + "c" * ((length - len(end)) % 3) + end)
            for _ in range(500):
                await pilot.pause(0.01)
                shown = ["".join(part.text for part in line) for line in app.screen._compositor.render_strips()]
                if any(end in line for line in shown):
                    break
            else:
                raise AssertionError(length)
