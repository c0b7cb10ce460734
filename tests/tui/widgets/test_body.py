"""The text area of forms."""

from textual.app import App

from memtui.tui.dialogs.draft_form import Body


class Form(App):
    def compose(self):
        yield Body("one\ntwo\nthree")


async def test_undo_takes_back_the_line_that_brought_the_scroll_bar():
    app = Form()
    async with app.run_test(size=(20, 3)) as pilot:
        body = app.query_one(Body)
        body.move_cursor(body.document.end)
        await pilot.press("enter")
        await pilot.pause()
        assert body.show_vertical_scrollbar
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert body.text == "one\ntwo\nthree"
        assert body.cursor_location == (2, 5)
