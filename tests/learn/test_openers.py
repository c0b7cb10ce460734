"""A sentence that opens like a rule or a wish is one, in nine languages; what programs do and others wrote is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.client.transcripts.conversation import Turn
from memtui.learn import signals
from tables import rows


def said(text, agent=""):
    return [
        draft.description for draft in signals.signals_of(Turn(text, "prompt", agent=agent)) if draft.confidence >= 0.5
    ]


RULES = """\
Always name the author when I ask about a poem.
Whenever I mention a city, give its population.
When I ask for a plan, please start with the risks.
If I ask about rent, always say whether it is with heating.
Please don't rename public functions.
In future check the licence first.
Cite the law whenever I ask about rent.
You must never send mail by yourself.
If in doubt, ask me.
Ask me before deleting files.
Never deploy unless I say so.
Your answers should be short.
Nutze immer englische Namen.
Nie ohne Rücksprache veröffentlichen.
Immer wenn ich nach Rezepten frage, nenne die Kalorien.
Écris toujours des tests.
Ne supprime jamais les journaux.
Dorénavant, écris en anglais.
Escribe siempre en inglés.
Nunca borres los datos.
Cada vez que pregunte por precios, ponlos en euros.
Scrivi sempre in inglese.
Non cancellare mai i dati.
D'ora in avanti rispondi in italiano.
Escreva sempre em inglês.
Nunca mude o esquema.
Sempre que eu perguntar por preços, mostre em euros.
永远不要修改数据库。
每次提交前都要检查。
コードには必ずテストを書いてください。
データを消さないでください。
절대로 데이터를 지우지 마세요.
항상 영어로 써 주세요.""".splitlines()
WISHES = """\
I prefer plain words over jargon.
I'd rather see a table than a list.
I want plain functions rather than classes in new code.
Prefer composition over inheritance.
I like short summaries, what is new in Python?
I'm not a fan of long loops.
I find tables easier to read than prose.
Ich bevorzuge Tabellen.
Je préfère les tableaux.
Prefiero tablas en lugar de listas.
Preferisco tabelle con pochi colori.
Prefiro tabelas com poucas cores.
我更喜欢表格。
表の方が好きです。
저는 표를 선호합니다.""".splitlines()


@pytest.mark.parametrize("text", RULES + WISHES)
def test_a_rule_or_wish_at_the_start_of_a_session_is_a_draft(text):
    assert len(said(text)) == 1


@pytest.mark.parametrize("text", rows(__file__, "what happens is chosen or is at hand is no draft"))
def test_what_happens_is_chosen_or_is_at_hand_is_no_draft(text):
    assert said(text) == []


def test_a_wish_and_what_is_asked_for_after_it_are_apart():
    assert said("I prefer short walks over long hikes, so what can I do in Porto?") == [
        "I prefer short walks over long hikes"
    ]
    assert said("Which do you prefer, tabs or spaces?") == []


SHOWN = "Here is the README:\n\n# Style\n\n{}\n\nIs that clear?"


@pytest.mark.parametrize("shown", ["```\n{}\n```\nIs that clear?", "> {}\n\nIs that clear?", SHOWN])
@given(texts=st.lists(st.sampled_from(RULES), min_size=1, max_size=4))
def test_what_is_fenced_quoted_or_shown_is_no_draft(shown, texts):
    joint = "\n> " if shown.startswith(">") else "\n"
    assert said(shown.format(joint.join(texts))) == []
