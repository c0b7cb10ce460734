"""What a team shares in Claude Code's memory: a scope of its own, trusted first, changed only with a word."""

import pytest

from memtui.base import paths_hot

TEXT = "---\nname: {name}\ndescription: About {name}\n---\nBody of {name}, see [[deploy]].\n"


@pytest.fixture
def team(bare):
    """The directory of the team, with two memories, beside one of the person's own and an index of all."""
    own = paths_hot.config_dir(bare.env) + "/projects/" + paths_hot.slug(bare.cwd) + "/memory"
    place = paths_hot.normal(own + "/team")
    import pathlib

    directory = pathlib.Path(place)
    directory.mkdir(parents=True)
    for path in (directory / "deploy.md", directory / "review.md", directory.parent / "mine.md"):
        path.write_text(TEXT.format(name=path.stem))
    lines = ["- [mine](mine.md) — About mine", "- [deploy](team/deploy.md) — About deploy"]
    (directory.parent / "MEMORY.md").write_text("\n".join([*lines, "- [review](team/review.md) — About review", ""]))
    return directory


def scopes_of(bare):
    found = {}
    for each in bare.json("list")["memories"]:
        found.setdefault(each["scope"], []).append(each["name"])
    return found


def test_it_is_a_scope_of_its_own_and_trusted_like_a_repository(bare, team):
    assert scopes_of(bare) == {"auto": ["mine"], "team": ["deploy", "review"]}
    assert bare.json("show", "deploy")["scope"] == "team"
    assert bare.json("show", "team:deploy")["path"] == str(team / "deploy.md")
    codes = [f["code"] for f in bare.json("check", check=False)["findings"]]
    assert not {"memories.dangling", "memories.no_line", "memories.no_index"} & set(codes)
    elsewhere = team.parents[3] / "memory" / "team"
    elsewhere.mkdir(parents=True)
    (elsewhere / "own.md").write_text(TEXT.format(name="own"))  # only the client's memory has a team's
    assert scopes_of(bare)["global"] == ["own"]
    waiting = next(f for f in bare.json("doctor", check=False)["findings"] if f["code"] == "trust.waiting")
    assert len(waiting["memories"]) == 2
    assert bare.json("trust", "--team", "--list")["new"] == ["deploy.md", "review.md"]
    assert bare.json("trust", "team:deploy", "--yes")["trusted"] == ["deploy.md"]
    (team / "deploy.md").write_text(TEXT.format(name="deploy") + "More.\n")
    assert bare.json("trust", "--team", "--list")["changed"] == ["deploy.md"]
    assert bare.json("trust", "--yes")["trusted"] == ["deploy.md", "review.md"]
    bare("trust", "--team", "--remove")
    assert "is shared by a team" in bare("mv", "--copy", "review", "--scope", "global", check=False).err


@pytest.mark.parametrize(
    "command",
    [
        *("mv deploy roll-out", "edit deploy --description Another", "edit team:deploy --type project"),
        *("rm deploy", "rm --purge deploy", "mv deploy --scope auto", "mv --copy mine --scope team"),
    ],
)
def test_nothing_there_changes_without_a_word(bare, team, command):
    bare("trust", "--team", "--yes")
    before = {path.name: path.read_bytes() for path in team.iterdir()}
    done = bare(*command.split(), check=False)
    assert done.code
    assert "others would have got it" in done.err
    assert {path.name: path.read_bytes() for path in team.iterdir()} == before
    bare(*command.split(), "--yes")
    assert {path.name: path.read_bytes() for path in team.iterdir()} != before


@pytest.mark.parametrize(
    "command",
    [("new", "x", "--scope", "team", "--body", "x"), ("consolidate", "--all", "--yes"), ("check", "--fix", "--yes")],
)
def test_what_changes_many_or_makes_new_ones_leaves_it_alone(bare, team, command):
    (team / "deploy-2.md").write_text((team / "deploy.md").read_text().replace("name: deploy", "name: deploy-2"))
    before = {path.name: path.read_bytes() for path in team.iterdir()}
    bare(*command, check=False)
    assert {path.name: path.read_bytes() for path in team.iterdir()} == before
