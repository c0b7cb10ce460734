"""Applying proposals: one step that undo takes back, with links, index lines and trust kept in order; a proposal that
can't be made any more is left out as a whole, and says why."""

import os
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.base.errors import MemtuiError
from memtui.store import triggers, trust_grants, trust_hot
from memtui.store.journal import undo
from memtui.store.store import Store
from memtui.tidy import changeset
from memtui.views import changesets

from .stores import World, text_of

ONE = text_of("one", "The first", "Use pnpm. See [[two]] and [[three|that one]].")
TWO = text_of("two", "The second", "Never npm. See [[one]].")
THREE = text_of("three", "The third", "Links: [[one]], [[two]], [[two#part]], `[[two]]`.")
INDEX = "# Index\n- [one](one.md) - The first\n- [two](two.md) - The second\n- [three](three.md) — mine\nSee [it](two.md).\n"


@pytest.fixture
def world(tmp_path):
    return World(f"{tmp_path}", {"one.md": ONE, "two.md": TWO, "three.md": THREE, "MEMORY.md": INDEX})


def merge(world, text="Use pnpm. Never npm."):
    return world.proposal("merge", ["one.md", "two.md"], {"one.md": text_of("one", "Both", text), "two.md": None})


def apply(world, *proposals):
    return changeset.apply(Store(world.env, world.repo), proposals)


def undone(world):
    return undo.run(Store(world.env, world.repo).journal, "undo").first()


def test_what_a_merge_drops_is_said_before_it_is_made(world):
    weighed = changeset.weigh(Store(world.env, world.repo).files(), merge(world, "Use pnpm."))
    says = lambda found: " ".join(map(str, changesets.describe(weighed.proposal, found, "")))
    assert "dropped: " in says(weighed)
    assert "Never npm." in says(weighed)
    assert "dropped: " not in says(None)


def test_a_merge_is_one_step_with_links_and_triggers_until_undo(world):
    before = world.files()
    done = apply(world, merge(world))
    assert [each.kind for each in done.made] == ["merge"]
    assert not done.refused
    assert not os.path.exists(world.path("two.md"))
    assert world.text("MEMORY.md") == "# Index\n- [one](one.md) - Both\n- [three](three.md) — mine\nSee [it](one.md).\n"
    assert "Links: [[one]], [[one]], [[one#part]], `[[two]]`." in world.text("three.md")
    assert sorted(os.path.basename(each.path) for each in done.diffs if each.repaired) == ["MEMORY.md", "three.md"]
    undone(world)
    assert world.files() == before
    store = Store(world.env, world.repo)
    for name in ("one", "two"):
        triggers.change(store, store.find(name), [f"when {name} is needed", "both"])
    apply(world, merge(world))
    known = triggers.lines_of(store.root, world.auto)
    assert [each.text for each in known.pop("one.md")] == ["when one is needed", "both", "when two is needed"]
    assert known == {}
    undone(world)
    known = triggers.lines_of(store.root, world.auto)
    assert [each.text for each in known["two.md"]] == ["when two is needed", "both"]
    assert [each.text for each in known["one.md"]] == ["when one is needed", "both"]


def test_several_kinds_at_once_are_one_step(world):
    world.write("four.md", text_of("four", body="Of [[three]]."))
    world.write("old.md", text_of("old"))
    before = world.files()
    done = apply(
        world,
        merge(world),
        world.proposal("rewrite", ["four.md"], {"four.md": text_of("four")}),
        world.proposal("archive", ["old.md"], {"old.md": None, ".archive/old.md": world.read("old.md")}),
        world.proposal("delete", ["three.md"], {"three.md": None}),
    )
    assert [each.kind for each in done.made] == ["merge", "rewrite", "archive", "delete"]
    assert world.text(".archive/old.md") == text_of("old")
    assert "three" not in world.text("MEMORY.md")
    listed = {each.name for each in (Store(world.env, world.repo).find(name) for name in ("one", "four"))}
    assert listed == {"one", "four"}
    undone(world)
    assert world.files() == before


@pytest.mark.parametrize(
    ("meanwhile", "named"),
    [
        (lambda w: w.write("two.md", TWO + "More.\n"), "two.md"),
        (lambda w: os.unlink(w.path("two.md")), "two.md"),
        (lambda w: w.write("one.md", "other"), "one.md"),
    ],
)
def test_a_stale_proposal_names_the_file_and_nothing_of_it_is_made(world, meanwhile, named):
    planned = merge(world)
    other = world.proposal("rewrite", ["three.md"], {"three.md": text_of("three")})
    meanwhile(world)
    before = world.files()
    done = apply(world, planned, other)
    assert [(each.proposal.id, each.reason) for each in done.refused] == [(planned.id, "stale")]
    assert done.refused[0].path.endswith(named)
    assert named in done.refused[0].error.message
    assert [each.id for each in done.made] == [other.id]
    assert {path for path, data in world.files().items() if before.get(path) != data} == {world.path("three.md")}


@pytest.mark.parametrize(
    ("meanwhile", "reasons"), [(INDEX + "- [four](four.md)\n", []), ("- [four](four.md)\n", ["stale"])]
)
def test_a_fix_of_memory_md_is_made_beside_a_line_that_came_meanwhile(world, meanwhile, reasons):
    after = INDEX.replace("- [two](two.md) - The second\n", "")
    planned = world.proposal("relink", ["MEMORY.md"], {"MEMORY.md": after})
    world.write("MEMORY.md", meanwhile)
    assert [each.reason for each in apply(world, planned).refused] == reasons
    assert world.text("MEMORY.md") == (meanwhile if reasons else after + "- [four](four.md)\n")


def test_a_file_that_changes_while_it_is_applied_makes_its_proposal_stale(world, monkeypatch):
    planned = merge(world)
    compose = changeset.Composition

    def composed(files, proposals):
        found = compose(files, proposals)
        world.write("two.md", TWO + "Just now.\n")
        return found

    monkeypatch.setattr(changeset, "Composition", composed)
    done = apply(world, planned)
    assert [each.reason for each in done.refused] == ["stale"]
    assert (world.text("one.md"), world.text("two.md")) == (ONE, TWO + "Just now.\n")


def test_two_changes_of_a_file_are_both_made_unless_on_the_same_line(world):
    world.write("long.md", "a\nb\nc\nd\ne\nf\n")
    first = world.proposal("rewrite", ["long.md"], {"long.md": "A\nb\nc\nd\ne\nf\n"})
    both = world.proposal("merge", ["one.md", "two.md"], {"one.md": None, "two.md": None, "new.md": "y"})
    world.write("new.md", "somebody's")
    done = apply(
        world,
        first,
        world.proposal("rewrite", ["long.md"], {"long.md": "other\nb\nc\nd\ne\nf\n"}),
        world.proposal("rewrite", ["long.md"], {"long.md": "a\nb\nc\nd\nE\nf\n"}),
        both,
    )
    assert len(done.made) == 2
    assert {each.reason for each in done.refused} == {"overlap", "stale"}
    assert first.id in next(each.error.message for each in done.refused if each.reason == "overlap")
    assert world.text("long.md") == "A\nb\nc\nd\nE\nf\n"
    assert world.text("new.md") == "somebody's", "a file that is there by now"


def test_the_index_is_written_by_relinks_and_follows_the_others(world):
    relink = world.proposal("relink", ["MEMORY.md"], {"MEMORY.md": INDEX.replace("— mine", "— ours")})
    assert len(apply(world, relink, merge(world)).made) == 2
    assert world.text("MEMORY.md") == "# Index\n- [one](one.md) - Both\n- [three](three.md) — ours\nSee [it](one.md).\n"


# trust


@pytest.fixture
def repository(world):
    """Memories that came with a repository: `kept` is trusted, `strange` is not."""
    world.write(f"{world.project}/kept.md", text_of("kept"))
    world.write(f"{world.project}/strange.md", text_of("strange"))
    trust_grants.grant(world.root, world.project, {"kept.md": world.read(f"{world.project}/kept.md")})
    return world


def test_an_untrusted_memory_is_not_merged_into_another(repository):
    world, project = repository, repository.project
    kept, strange = f"{project}/kept.md", f"{project}/strange.md"
    before = world.files()
    done = apply(
        world,
        world.proposal("merge", [kept, strange], {kept: "both", strange: None}),
        world.proposal("merge", [kept, strange], {strange: "both", kept: None}),
    )
    assert [each.reason for each in done.refused] == ["untrusted", "untrusted"]
    assert "memtui trust strange" in done.refused[0].error.hint
    assert world.files() == before


def test_what_is_made_of_trusted_memories_only_is_trusted(repository):
    world, project = repository, repository.project
    kept, strange = f"{project}/kept.md", f"{project}/strange.md"
    done = apply(
        world,
        world.proposal("rewrite", [kept], {kept: text_of("kept", body="Better.")}),
        world.proposal("rewrite", [strange], {strange: text_of("strange", body="Better.")}),
    )
    assert len(done.made) == 2
    known = trust_hot.load(world.root, project)
    assert known.allows(world.read(kept))
    assert not known.allows(world.read(strange))


def test_read_only_scopes_and_links_are_refused(world):
    world.write(f"{world.repo}/CLAUDE.md", "Rules.\n")
    os.symlink(world.path("one.md"), world.path("link.md"))
    done = apply(
        world,
        world.proposal("rewrite", [f"{world.repo}/CLAUDE.md"], {f"{world.repo}/CLAUDE.md": "Mine.\n"}),
        world.proposal("rewrite", ["link.md"], {"link.md": "x"}),
        world.proposal("rewrite", ["one.md"], {"one.md": "x"}),
    )
    assert [each.reason for each in done.refused] == ["forbidden", "forbidden"]
    assert (world.text(f"{world.repo}/CLAUDE.md"), len(done.made)) == ("Rules.\n", 1)


# shapes


def test_a_proposal_has_the_shape_of_its_kind(world):
    for kind, reads, makes in (
        ("merge", ["one.md"], {"one.md": "x"}),
        ("merge", ["one.md", "two.md"], {"one.md": None, "two.md": None}),
        *(("rewrite", ["one.md"], {"new.md": "x"}), ("rewrite", ["one.md"], {"one.md": None})),
        *(("rewrite", ["MEMORY.md"], {"MEMORY.md": "x"}), ("delete", ["one.md"], {"one.md": "x"})),
        *(("delete", ["one.md"], {"two.md": None}), ("relink", ["one.md"], {"one.md": None})),
        ("relink", ["MEMORY.md"], {"MEMORY.md": None}),
        ("archive", ["one.md"], {"one.md": None, "other.md": "x"}),
    ):
        with pytest.raises(MemtuiError):
            world.proposal(kind, reads, makes)


# any sequence

NAMES = ("a.md", "b.md", "c.md", "d.md")
BODIES = st.sampled_from(["Text.", "See [[a]] and [[b|bee]].", "One.\n\nTwo [[c]].", "", "ü [[d]]\r\nend"])


def random_proposal(world, draw):
    """A proposal of any kind that the world's files allow; else None."""
    there = sorted(name for name in os.listdir(world.auto) if name in NAMES)
    kind = draw(
        st.sampled_from([kind for kind in get_args(changeset.Kind) if kind != "mute"])
    )  # that changes no memory
    some = draw(st.permutations(there))
    text = text_of(draw(st.sampled_from("abcde")), draw(st.sampled_from(["", "About it"])), draw(BODIES))
    if len(there) < (2 if kind == "merge" else 1):
        return None
    index = draw(st.sampled_from(["", INDEX, "- x\n"]))
    reads, makes = {
        "merge": lambda: (some[:2], {some[0]: text, some[1]: None}),
        "rewrite": lambda: (some[:1], {some[0]: text}),
        "archive": lambda: (some[:1], {some[0]: None, f".archive/{some[0]}": text}),
        "delete": lambda: (some[:1], {some[0]: None}),
        "relink": lambda: (["MEMORY.md"], {"MEMORY.md": index}),
    }[kind]()
    return world.proposal(kind, reads, makes)


@pytest.mark.slow
@settings(deadline=None)
@given(data=st.data())
def test_any_sequence_of_changesets_and_undos_restores_the_tree(tmp_path_factory, data):
    files = {name: text_of(name[0], body=data.draw(BODIES)) for name in NAMES}
    index = "".join(f"- [{name[0]}]({name}) — About {name[0]}\n" for name in NAMES) + "Also [a](a.md)."
    world = World(f"{tmp_path_factory.mktemp('any')}", {**files, "MEMORY.md": index})
    trees = [world.files()]
    for _ in range(data.draw(st.integers(1, 4))):
        if not os.path.exists(world.path("MEMORY.md")):
            world.write("MEMORY.md", "")
            trees = [world.files()]
        if len(trees) > 1 and data.draw(st.booleans()):
            undone(world)
            trees.pop()
            assert world.files() == trees[-1]
            continue
        drawn = [random_proposal(world, data.draw) for _ in range(data.draw(st.integers(1, 4)))]
        proposals = [proposal for proposal in drawn if proposal]
        done = apply(world, *{each.id: each for each in proposals}.values())
        assert len(done.made) + len(done.refused) == len({each.id for each in proposals})
        if done.transaction:
            trees.append(world.files())
    while len(trees) > 1:
        undone(world)
        trees.pop()
        assert world.files() == trees[-1]


def test_a_changeset_edited_by_a_person_is_made_as_edited(world):
    planned = merge(world)
    assert apply(world, planned.edited(world.path("one.md"), b"Mine.\n")).made
    assert world.text("one.md") == "Mine.\n"


def test_what_a_model_added_is_no_evidence_for_a_changed_text(world):
    evidence = tuple(changeset.ProposalEvidence(code) for code in (changeset.ADDED, "memories.alike"))
    edited = replace(merge(world), evidence=evidence).edited(world.path("one.md"), b"mine")
    assert [reason.code for reason in edited.evidence] == ["memories.alike"]
    assert edited.written[0].after == b"mine"
