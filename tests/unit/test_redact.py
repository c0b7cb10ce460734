"""Secrets go, everything else stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.redact import redact

RANDOM = "aZ3kQ9xL2mN8pR5tV7wY1bC4dF6gH0jK"
SECRETS = [
    ("sk-ant-" + "api03-" + RANDOM, "Anthropic key"),
    ("sk-" + "proj-" + RANDOM, "OpenAI key"),
    ("gh" + "p_" + RANDOM + "abcd", "GitHub token"),
    ("github_" + "pat_" + RANDOM, "GitHub token"),
    ("gl" + "pat-" + RANDOM, "GitLab token"),
    ("AK" + "IA" + "ABCDEFGHIJKLMNOP", "AWS key id"),
    ("AI" + "za" + RANDOM + "abc", "Google key"),
    ("xo" + "xb-1234567890-" + RANDOM, "Slack token"),
    ("sk_" + "live_" + RANDOM, "Stripe key"),
    ("np" + "m_" + RANDOM + "abcd", "npm token"),
    ("py" + "pi-" + RANDOM * 2, "PyPI token"),
    ("hf" + "_" + RANDOM, "Hugging Face token"),
    ("ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + RANDOM, "JWT"),
]


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
def test_a_key_of_a_known_shape_is_found_anywhere(secret, kind):
    text, kinds = redact(f"use {secret}, please")
    assert text == f"use [redacted: {kind}], please"
    assert kinds == [kind]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2", "hunter2"),
        ("DB_PASSWORD='s3cr3t pass'", "s3cr3t pass"),
        ('{"api_key": "abc123def456ghi7"}', "abc123def456ghi7"),
        ("the password is correct-horse-1", "correct-horse-1"),
        ("api key: " + RANDOM, RANDOM),
        ("the token for staging was " + RANDOM, RANDOM),
        ("postgres://bob:pw12@host/db", "pw12"),
        ("Authorization: Bearer abcdef1234567890", "abcdef1234567890"),
        ("curl -u bob:swordfish https://host", "swordfish"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "wJalrXUtnFEMI"),
        ("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE0\n-----END RSA PRIVATE KEY-----", "MIIE0"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE0", "MIIE0"),
        ("MIIEowIBAAKCAQEA0123\nMIIEowIBAAKCAQEA0124\n-----END PRIVATE KEY-----", "MIIEow"),
    ],
)
def test_a_secret_beside_a_telling_word_is_found(text, secret):
    found, kinds = redact(text)
    assert secret not in found
    assert kinds


@pytest.mark.parametrize(
    "text",
    [
        "commit 3c6c0ea70b91a6b7f25b0ed1f3c7bb1b3c7aa7b1 broke it",
        "the token in src/core/token_provider.py, line 22",
        "session 7072595a-75b0-4521-805d-26329675245d holds the token",
        "password: required",
        "use GITHUB_TOKEN=$TOKEN and HOMEBREW_TAP_GITHUB_TOKEN",
        "max_tokens=4096, token usage: 1234567",
        "secret sauce is nice, auth: the middleware",
        "token = get_token(request)",
        "https://example.com/a/b?c=d",
        "sk-learn-is-a-very-nice-package-name",
        "never store a password in the repository",
        "api_key: string",
    ],
)
def test_ordinary_text_stays(text):
    assert redact(text) == (text, [])


@given(st.text(max_size=200), st.sampled_from([s for s, _ in SECRETS]), st.text(max_size=50))
def test_nothing_of_a_key_is_left_and_redacting_twice_changes_nothing(before, secret, after):
    found, _ = redact(before + " " + secret + "\n" + after)
    assert secret not in found
    assert redact(found)[0] == found


def test_long_text_is_no_trap():
    for piece in ("a ", "password ", "://", "-----BEGIN PRIVATE KEY-----", "token: ", "A" * 64 + "\n"):
        redact(piece * (200_000 // len(piece)))
