"""How the text beside a list is broken into lines."""

from rich.text import Text

from memtui.tui.widgets.detail import Detail

from .conftest import settle


async def lines(app, text, width):
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        return app.screen.query_one(Detail)._hung(text, width).plain.split("\n")


async def test_what_follows_a_label_stands_right_of_it(app):
    text = Text().append("index     ", "dim").append("line 1: Answer in a few sentences, code first")
    assert await lines(app, text, 34) == [
        "index     line 1: Answer in a few",
        "          sentences, code first",
    ]


async def test_a_path_is_broken_at_its_slashes(app):
    text = Text("/home/you/.claude/projects/-home-you-shop/memory/concise-answers.md", "dim")
    assert await lines(app, text, 30) == [
        "/home/you/.claude/projects/",
        "-home-you-shop/memory/",
        "concise-answers.md",
    ]


async def test_an_indented_id_keeps_its_indent(app):
    text = Text("  01K8ZQ3V5N7X9Y2A4C6E8G0J1M01K8ZQ3V5N7X9Y2A4C6E8G0J1M")
    assert all(line.startswith("  ") for line in await lines(app, text, 30))


async def test_prose_is_left_as_it_is(app):
    text = Text("Use pnpm for every install and script, and never npm.")
    assert await lines(app, text, 30) == [text.plain]


async def test_wide_letters_fit(app):
    text = Text().append("note      ", "dim").append("数据库数据库数据库数据库数据库")
    made = await lines(app, text, 26)
    assert max(Text(line).cell_len for line in made) <= 26
    assert "".join(line.strip() for line in made).endswith("库")
