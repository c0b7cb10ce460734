"""Made-up secrets of every kind, made when a test runs: nothing that looks like one stands in the repository
(the kinds are in tests/data/secrets.txt).

In a template `{A36}` is 36 characters of a class: A letters and digits, a lower-case letters and digits, U capitals and
digits, W as A with `_` and `-`, L letters, l lower-case letters, H hex digits, D digits, B base 64, P a password's. `{uuid}`
is a UUID. `<<` and `>>` stand around the secret part; without them all of it is secret.
"""

import random
import re
import string
from pathlib import Path

CLASSES = {
    "A": string.ascii_letters + string.digits, "a": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits, "Q": string.ascii_uppercase + "234567",
    "q": string.ascii_lowercase + "234567", "W": string.ascii_letters + string.digits + "_-",
    "L": string.ascii_letters, "l": string.ascii_lowercase, "H": "0123456789abcdef", "D": string.digits,
    "B": string.ascii_letters + string.digits + "+/",
}  # fmt: skip


def made(template: str, seed: str = "") -> str:
    """A template with its parts filled in; the same for the same template and seed."""
    chosen = random.Random(f"{template}/{seed}")

    def part(match: re.Match[str]) -> str:
        name, count = match[1], int(match[2] or 0)
        if name == "uuid":
            return "-".join("".join(chosen.choices(CLASSES["H"], k=n)) for n in (8, 4, 4, 4, 12))
        if name == "P":
            return (
                "".join(chosen.choices(string.ascii_letters, k=count - 3))
                + chosen.choice("!#%&*?")
                + chosen.choice(string.digits)
                + chosen.choice(string.ascii_letters)
            )
        while True:
            found = "".join(chosen.choices(CLASSES[name], k=count))
            kinds = {c.isdigit() for c in found}
            if (
                (len(kinds) == 2 or name in {"L", "l", "D"} or count < 16)
                and found[0].isalnum()
                and found[-1].isalnum()
            ):
                return found

    return re.sub(r"\{(uuid|[A-Za-z])([0-9]*)\}", part, template)


def listed(part: str) -> list[tuple[str, str]]:
    """(name, template) of each kind in a part of the file."""
    lines = [line for line in part.strip().splitlines() if not line.startswith("#")]
    return [(name, template) for name, _, template in (line.partition(": ") for line in lines)]


SHAPED, PLACED, LANGUAGES = Path(__file__).parents[1].joinpath("data/secrets.txt").read_text().split("\n\n")
SHAPED_KINDS, PLACED_KINDS = listed(SHAPED), listed(PLACED)
NAMES = [name.strip() for name in LANGUAGES.partition("\n")[2].replace("\n", " ").split("|")]


def planted(template: str, seed: str = "") -> tuple[str, str]:
    """(text, the secret in it)"""
    text = made(template, seed)
    if "<<" not in text:
        return text, text
    before, _, rest = text.partition("<<")
    secret, _, after = rest.rpartition(">>")
    return before + secret + after, secret


def left_of(secret: str, text: str, length: int = 8) -> str:
    """A piece of a secret, of so many characters and not of its well-known beginning, that is still in a text."""
    size = min(length, len(secret))
    first = len(secret) // 3 if len(secret) > 2 * length else 0
    return next(
        (secret[n : n + size] for n in range(first, len(secret) - size + 1) if secret[n : n + size] in text), ""
    )


def texts_below(top: Path) -> list[tuple[Path, str]]:
    return [(path, path.read_bytes().decode("utf-8", "replace")) for path in top.rglob("*") if path.is_file()]


def leaks(texts, secrets) -> list[tuple[str, str, str]]:
    """(kind, file, piece) of each secret of which a piece is left in one of the texts of files."""
    found = []
    for kind, secret in secrets:
        for name, text in texts:
            for seen in (text, text.replace("\\\\", "\\").replace('\\"', '"')):
                # Of a phrase of words more than two of them tell something.
                piece = left_of(secret, seen, 24 if " " in secret else 8)
                found += [(kind, str(name), piece)] if piece else []
    return found
