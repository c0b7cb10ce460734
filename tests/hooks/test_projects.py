"""Projects whose paths the client writes alike stay apart."""

from memtui.base import paths

PAIRS = [("my_app", "my-app"), ("my.app", "my-app"), ("my app", "my_app"), ("新聞", "暫存")]


def test_what_waits_for_one_project_is_not_given_in_its_neighbour(home):
    for number, names in enumerate(PAIRS):
        home.project, other = (home.base / str(number) / name for name in names)
        for project in (home.project, other):
            (project / ".git").mkdir(parents=True)
        assert paths.slug(str(home.project)) == paths.slug(str(other))
        home.boxes["project"] = home.root / "projects" / paths.project_key(str(home.project))
        home.guide("Freeze: do not deploy today")
        home.leave("updates", "Say it in English\n> you: in English", confidence="0.9", durable="0.9")
        home.leave("items", "the half-done thing")
        assert home.prompt(f"other{number}", cwd=str(other)).context == ""
        said = home.prompt(f"s{number}", cwd=str(home.project)).context
        assert all(words in said for words in ("Freeze", "in English", "half-done"))
