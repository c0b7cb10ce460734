"""Random parts that name a document, a message or a row stay; secrets of the same shapes go."""

import random
import string

import pytest

from memtui.redact.redact import redact

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
SECRETS = [
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
@pytest.mark.parametrize(("template", "size", "of"), SECRETS, ids=[each[0] for each in SECRETS])
def test_a_secret_of_the_same_shape_goes(template, size, of, seed):
    secret = random_text(size, seed, of)
    text, kinds = redact(template.format(secret))
    assert secret not in text
    assert kinds


@pytest.mark.parametrize(
    ("address", "spared"),
    [
        ("postgres://user:password@localhost/shop", True),
        ("mysql://app:pass@127.0.0.1:3306/shop", True),
        ("redis://user:password@cache.example.com", True),
        ("postgres://user:password@db.acme.test/shop", False),
        ("postgres://user:hunter2@localhost/shop", False),
        ("https://user:password@localhost.acme.test/", False),
    ],
)
def test_a_password_of_instructions_stays_at_a_host_of_instructions(address, spared):
    assert (redact(address) == (address, [])) is spared


def test_a_secret_behind_a_document_link_does_not_hide_in_it():
    token = random_text(32, "x")
    text, _ = redact(f"https://docs.google.com/document/d/1A2b3C4d5E6f7G8h9I0jK1/edit/{token}")
    assert token not in text
    assert redact(f"<https://{token}@mail.acme.test>")[1]
