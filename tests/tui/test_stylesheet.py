"""Styles are parsed again for another theme, not for another screen."""

from textual.css.stylesheet import Stylesheet

from .conftest import press, running, settle


async def test_styles_are_parsed_again_for_another_theme_not_for_another_screen(app, monkeypatch):
    parsed = []
    parse_all = Stylesheet.reparse

    def counted(self):
        parsed.append(app.theme)
        parse_all(self)

    monkeypatch.setattr(Stylesheet, "reparse", counted)
    async with running(app, (120, 40)) as pilot:
        for screen in ("2", "3", "4", "1"):
            await press(pilot, screen)
        assert parsed == []
        background = app.screen.styles.background
        app.theme = "textual-light"
        await settle(pilot)
        assert parsed
        assert app.screen.styles.background != background
        for screen in ("2", "1"):
            await press(pilot, screen)
        assert app.screen.styles.background != background
        assert set(parsed) == {"textual-light"}
