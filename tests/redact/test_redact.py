"""Secrets go, everything else stays."""

import random
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recorded
from memtui.redact import redact as redaction
from memtui.redact import shaped
from memtui.redact.redact import described, kinds_in, redact
from tables import rows

from .harmless import MAKERS
from .secretkinds import CLASSES, NAMES, PLACED_KINDS, SHAPED_KINDS, left_of, made, planted

RANDOM = "aZ3kQ9xL2mN8pR5tV7wY1bC4dF6gH0jK"
SECRETS = [
    ("sk-ant-" + "api03-" + RANDOM, "Anthropic key"),
    ("sk-" + "proj-" + RANDOM, "OpenAI key"),
    ("gh" + "p_" + RANDOM + "abcd", "GitHub token"),
    *(("github_" + "pat_" + RANDOM, "GitHub token"), ("gl" + "pat-" + RANDOM, "GitLab token")),
    ("AK" + "IA" + "ABCDEFGHIJKLMNOP", "AWS access key"),
    ("AI" + "za" + RANDOM + "abc", "Google key"),
    ("xo" + "xb-1234567890-" + RANDOM, "Slack token"),
    *(("sk_" + "live_" + RANDOM, "Stripe key"), ("np" + "m_" + RANDOM + "abcd", "npm token")),
    *(("py" + "pi-" + RANDOM * 2, "PyPI token"), ("hf" + "_" + RANDOM, "Hugging Face token")),
    ("ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + RANDOM, "JWT"),
]
SEEDS = "abc"
# Words of harmless text that may be taken for secrets, in a million characters.
WRONG_WORDS = 60


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
def test_a_key_of_a_known_shape_is_found_anywhere(secret, kind):
    text, kinds = redact(f"use {secret}, please")
    assert text == f"use [redacted: {kind}], please"
    assert kinds == kinds_in(f"use {secret}, please") == [kind]


def test_kinds_are_named_in_words_and_only_new_ones_and_examples_are_fixed():
    text = f"{SECRETS[5][0]} and {SECRETS[9][0]}"
    assert described(kinds_in(text)) == "an AWS access key and an npm token"
    assert described(kinds_in(text + " and password=hunter2")) == "an AWS access key, an npm token and a password"
    assert (kinds_in(text, f"before: {SECRETS[5][0]}"), kinds_in(text, text)) == (["npm token"], [])
    assert made("{A8}") == made("{A8}")
    assert kinds_in("a first part alone, ey" + "JhbGciOiJIUzI1NiJ9, is no JWT") == ["secret"]
    assert set(CLASSES) >= set("AaUWLlHDB")


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_every_kind_of_key_is_found_wherever_it_stands(seed):
    for name, template in SHAPED_KINDS:
        text, secret = planted(template, seed)
        for setting in (
            *("Use {} for the deploy.", "It is {}.", "请用{}部署", '"{}"', "({})", "FOO={}", "a\\n{}\\nb"),
            "{}, too",
        ):
            found, kinds = redact(setting.format(text))
            assert not left_of(secret, found), (name, setting, text, found)
            assert kinds
        if text[0].isalpha():
            assert not left_of(secret, redact(f"KEY_{text}")[0]), text


@pytest.mark.parametrize("between", ["\n", "\n    ", "\n> ", "\u200b", "\ufeff", "\u00ad", "\x1b[0m"])
def test_a_key_over_two_lines_or_with_something_invisible_inside_is_found(between):
    for name, template in SHAPED_KINDS:
        if "://" in template or name == "aws secret":
            continue
        text, secret = planted(template, "a")
        head, tail = secret[: len(secret) // 2], secret[len(secret) // 2 :]
        found, _ = redact("Use " + text.replace(secret, head + between + tail) + " for it")
        assert not left_of(head, found), (name, found)
        assert not left_of(tail, found), (name, found)
        assert found.startswith("Use ")
        assert found.endswith(" for it")


@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("before", ["", "    ", "> ", "# "])
def test_a_key_over_many_lines_is_found(width, before):
    for name, template in SHAPED_KINDS:
        text, secret = planted(template, "m")
        # A bar before a piece reads as a mark of quotation.
        if "://" in template or name in {"aws secret", "facebook app"} or len(secret) < 2 * width:
            continue
        pieces = [text[at : at + width] for at in range(0, len(text), width)]
        found, _ = redact(f"Use this:\n{before}" + f"\n{before}".join(pieces) + "\nthanks, Bob")
        assert not [piece for piece in pieces if len(piece) >= 8 and piece in found], (name, found)
        assert found.startswith("Use this:")
        assert found.endswith("thanks, Bob")


@pytest.mark.parametrize("seed", SEEDS)
def test_what_only_its_place_tells_is_found(seed):
    for name, template in PLACED_KINDS:
        text, secret = planted(template, seed)
        for setting in ("{}", "From now on use this: {} and nothing else", "请用 {}。"):
            found, _ = redact(setting.format(text))
            assert not left_of(secret, found), (name, setting, text, found)


def test_a_password_is_found_whatever_language_names_it():
    for name in NAMES:
        text, secret = planted(f"{name} <<{{P12}}>>")
        for setting in ("{}", "Note: {}.", "foo; {} bar"):
            assert not left_of(secret, redact(setting.format(text))[0]), text


@pytest.mark.parametrize("value", ["{H32}", "{H40}", "{uuid}", "{A32}", "{W40}"])
def test_what_a_service_is_given_is_its_key(value):
    for word in shaped.SERVICES:
        for form in ("{}_API_KEY=", "{} key: ", 'our {}_secret = "', "the {} token is "):
            text, secret = planted(form.format(word) + f"<<{value}>>")
            assert not left_of(secret, redact(text)[0]), text


@pytest.mark.parametrize(("text", "secret"), rows(__file__, "a secret beside a telling word is found"))
def test_a_secret_beside_a_telling_word_is_found(text, secret):
    found, kinds = redact(text)
    assert secret not in found
    assert kinds


@pytest.mark.parametrize("text", rows(__file__, "ordinary text stays"))
def test_ordinary_text_stays(text):
    assert redact(text) == (text, [])


@pytest.mark.large
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_harmless_text_keeps_its_words(make):
    texts = [make(random.Random(seed)) for seed in range(20)]
    wrong = sum(
        len(text.split()) + redact(text)[0].count("[redacted: ") - len(redact(text)[0].split()) for text in texts
    )
    wrong = max(wrong, sum(redact(text)[0].count("[redacted: ") for text in texts))
    assert wrong <= max(4, WRONG_WORDS * sum(map(len, texts)) / 1e6)


@pytest.mark.parametrize("beginning", ["sk", "ASt", "AzSe", "ACDb"])
def test_a_few_letters_that_begin_keys_are_no_key_within_a_picture(beginning):
    chosen = random.Random(1)
    letters = "".join(chosen.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789", k=120))
    picture = f"![a](data:image/png;base64,{letters[:50]}/{beginning}{letters[:90]}/{letters[30:]}==)"
    assert redact(picture)[0] == picture
    assert redact(f"the key is {beginning}{letters[:90]}.")[0] != f"the key is {beginning}{letters[:90]}."


@pytest.mark.large
@given(st.integers(0, 1 << 30))
def test_lock_files_hashes_and_pictures_keep_every_byte(seed):
    chosen = random.Random(seed)
    for make in MAKERS:
        if make.__name__ in {"package_lock", "git_log", "uuids", "prose", "pictures"}:
            text = make(chosen)[:1500]
            assert redact(text)[0] == text


@given(st.text(max_size=200), st.sampled_from([s for s, _ in SECRETS]), st.text(max_size=50))
def test_nothing_of_a_key_is_left_and_redacting_twice_changes_nothing(before, secret, after):
    found, _ = redact(before + " " + secret + "\n" + after)
    assert secret not in found
    assert redact(found)[0] == found


@given(st.lists(st.sampled_from([t for _, t in SHAPED_KINDS + PLACED_KINDS]), min_size=2, max_size=4), st.integers())
def test_redacting_many_secrets_twice_changes_nothing(templates, seed):
    between = random.Random(seed).choice([" ", "\n", "", ", "])
    text = between.join(planted(template, str(seed))[0] for template in templates)
    found = redact(text)
    assert redact(found[0])[0] == found[0]
    with pytest.MonkeyPatch.context() as patch:  # and no rule passes over a word that it needs
        for rule in ("shape_words", "place_words", "name_words", "unnamed_words"):
            patch.setattr(redaction, rule, lambda line, *_: {*line.split()})
        assert redact(text) == found


PIECES = (
    "a ", "password ", "password=", "password: a1!", "://", "https://a1b2c3d4e5f6g7h8", "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----\n", "token: ", "A" * 64 + "\n", "a1B" * 30 + "\n", "eyJ", "eyJa.eyJa.", "sk-", "SG.", "Q~",
    "1|", "a-us", "1:AA", "AZDO", "+ASt", "keyA1b2C3d4E5f6", "Authorization: ", "Cookie: a=", "bearer ", "mysql -u root ",
    "curl -u ", "/a", "aB3/", "\\n", "&quot;", "%3D", "\u200b", "password for a is ", "heroku_key", "a1b2C3d4\n    ",
    '"password" ', "seed phrase: ", "abandon ", "identified by '", "create user ", "login x ", "docker login ", "密码",
)  # fmt: skip


def _seconds(text):
    """The least of two: other processes only add."""
    spent = []
    for _ in range(2):
        begun = time.process_time()
        redact(text)
        spent.append(time.process_time() - begun)
    return min(spent)


@pytest.mark.large
@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_length_and_no_faster(piece):
    size = 8_000
    short, long = _seconds((piece * size)[:size]), _seconds((piece * size * 8)[: size * 8])
    # Eight times the text: a rule that is quadratic takes 64 times as long.
    assert long < 24 * short + 0.05


@pytest.mark.large
@settings(max_examples=30)
@given(st.integers(0, 1 << 30))
def test_no_text_is_a_trap(seed):
    marks = string.ascii_letters + string.digits + " \n=:/_-.\"'@~|+&%\\"
    redact("".join(random.Random(seed).choices(marks, k=3000)) * 4)


# --- random parts that name a document, a message or a row stay; secrets of the same shapes go


BASE62 = string.ascii_letters + string.digits
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def random_text(size, seed, of=BASE62):
    """Random letters and digits, of both cases where there are both."""
    return "".join(random.Random(f"{seed}/{size}").choices(of, k=size))


HARMLESS = [
    ("Spec: https://docs.google.com/document/d/{}/edit", 44, BASE62),
    ("Plan: https://docs.google.com/spreadsheets/u/1/d/{}/edit?usp=sharing#gid=0", 44, BASE62),
    ("File: https://drive.google.com/file/d/{}/view, and a word about auth", 33, BASE62),
    ("Board: https://www.figma.com/design/{}/Checkout?node-id=12-34", 22, BASE62),
    ("The order with the id {} failed", 21, BASE62 + "_-"),
    ('{{"order_id": "{}", "state": "open"}}', 21, BASE62 + "_-"),
    ("The primary key ckv3{} is in two rows", 21, string.ascii_lowercase + string.digits),
    ("The key 01HZ{} sorts by time", 22, CROCKFORD),
    ("In-Reply-To: <{}$1a2b@news.example.org>", 22, BASE62),
    ("The public key pk_test_{} is in the page", 24, BASE62),
]
OPAQUE = [
    ("Spec: https://docs.google.com/document/d/1A2b3C4d5E6f7G8h9I0jK1/edit?access_token={}", 44, BASE62),
    ("Plan: https://sheets.acme.test/share/{}/edit", 44, BASE62),
    ("File: https://files.acme.test/dl/report.zip?sig={}", 33, BASE62),
    ("Post it to https://hooks.acme.test/in/{}", 22, BASE62),
    ("The token with the id is {}", 21, BASE62 + "_-"),
    ('{{"client_secret": "{}", "state": "open"}}', 21, BASE62 + "_-"),
    ("The api key is ckv3{} for that service", 21, string.ascii_lowercase + string.digits),
    ("The password: 01HZ{}", 22, CROCKFORD),
    ("Clone https://{}@git.acme.test/shop.git", 22, BASE62),
    ("The private key sk_" + "test_{} is in the vault", 24, BASE62),
]


@pytest.mark.parametrize("seed", "abc")
@pytest.mark.parametrize(("template", "size", "of"), HARMLESS, ids=[each[0] for each in HARMLESS])
def test_the_random_part_of_a_name_stays(template, size, of, seed):
    text = template.format(random_text(size, seed, of))
    assert redact(text) == (text, [])


@pytest.mark.parametrize("seed", "abc")
@pytest.mark.parametrize(("template", "size", "of"), OPAQUE, ids=[each[0] for each in OPAQUE])
def test_a_secret_of_the_same_shape_goes(template, size, of, seed):
    secret = random_text(size, seed, of)
    text, kinds = redact(template.format(secret))
    assert secret not in text
    assert kinds


@pytest.mark.parametrize(
    ("address", "spared"), rows(__file__, "a password of instructions stays at a host of instructions")
)
def test_a_password_of_instructions_stays_at_a_host_of_instructions(address, spared):
    assert (redact(address) == (address, [])) is spared


def test_a_secret_behind_a_document_link_does_not_hide_in_it():
    token = random_text(32, "x")
    text, _ = redact(f"https://docs.google.com/document/d/1A2b3C4d5E6f7G8h9I0jK1/edit/{token}")
    assert token not in text
    assert redact(f"<https://{token}@mail.acme.test>")[1]


def test_texts_lose_what_they_lost():
    def read(text, seed):
        draw = random.Random(seed)
        secrets = {"{s}": "".join(draw.choices(BASE62, k=draw.choice([8, 16, 24, 32, 40])))}
        secrets |= {
            "{h}": draw.randbytes(20).hex(),
            "{u}": f"{draw.randbytes(4).hex()}-1b2c-4d3e-8f4a-{draw.randbytes(6).hex()}",
        }
        for name, secret in secrets.items():
            text = text.replace(name, secret)
        after, kinds = redact(text)
        for name, secret in secrets.items():
            after = after.replace(secret, name)
        return [after, kinds]

    recorded.check(__file__, "texts", read)
