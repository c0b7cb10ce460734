"""Made-up text without secrets, of the kinds that scanners stumble over. Each maker gives about a page for a seed."""

import base64
import json
import random
import string
import uuid
from collections.abc import Callable

WORDS = (
    "the build fails after merge because index cache session token count handler request parser module stores settings user"
    " password field is required never commit secrets check auth flow before release key press opens dialog and returns focus"
).split()


def _hex(r: random.Random, size: int) -> str:
    return "".join(r.choices("0123456789abcdef", k=size))


def _base64(r: random.Random, size: int) -> str:
    return base64.b64encode(r.randbytes(size)).decode()


def _word(r: random.Random) -> str:
    return r.choice(WORDS)


def _camel(r: random.Random) -> str:
    return _word(r) + "".join(_word(r).capitalize() for _ in range(r.randint(1, 4))) + r.choice(["", "2", "V3", "64"])


def _path(r: random.Random) -> str:
    folders = "/".join(
        r.choice([_word(r), _camel(r), _word(r) + "-" + _word(r), f"v{r.randint(1, 9)}"])
        for _ in range(r.randint(2, 6))
    )
    return (
        r.choice(["/home/bob/", "src/", "./", "~/code/", "/usr/lib/python3.11/", "C:\\Users\\bob\\"])
        + folders
        + r.choice([".py", ".tsx", ".test.ts", ".json", ""])
    )


def git_log(r: random.Random) -> str:
    return "\n".join(
        f"commit {_hex(r, 40)}\n{_hex(r, 7)}..{_hex(r, 9)} {_word(r)} {_word(r)}\nChange-Id: I{_hex(r, 40)}"
        for _ in range(30)
    )


def uuids(r: random.Random) -> str:
    return "\n".join(
        f"session {uuid.UUID(int=r.getrandbits(128))} holds the token of {_word(r)}, request_id={uuid.UUID(int=r.getrandbits(128))}"
        for _ in range(40)
    )


def paths(r: random.Random) -> str:
    return "\n".join(f"{_word(r)} {_path(r)}:{r.randint(1, 900)} in {_path(r)}" for _ in range(50))


def urls(r: random.Random) -> str:
    return "\n".join(
        f"see https://{_word(r)}.example.com/{_word(r)}/{_hex(r, 12)}/{_camel(r)}?page={r.randint(1, 90)}&q={_word(r)}#{_word(r)}-{r.randint(1, 9)}"
        f" and https://github.com/acme/{_word(r)}/commit/{_hex(r, 40)} or ssh://git@example.com/{_word(r)}.git"
        for _ in range(30)
    )


def package_lock(r: random.Random) -> str:
    found = {
        f"node_modules/{_word(r)}-{_word(r)}{n}": {
            "version": f"{r.randint(0, 9)}.{r.randint(0, 99)}.{r.randint(0, 9)}",
            "resolved": f"https://registry.example.org/{_word(r)}/-/{_word(r)}-{r.randint(0, 9)}.{r.randint(0, 99)}.0.tgz",
            "integrity": f"sha512-{_base64(r, 64)}",
        }
        for n in range(30)
    }
    return json.dumps({"lockfileVersion": 3, "packages": found}, indent=2)


def other_locks(r: random.Random) -> str:
    rows = []
    for _ in range(12):
        name = f"{_word(r)}-{_word(r)}"
        rows += [
            f"{name} v1.{r.randint(0, 99)}.0 h1:{_base64(r, 32)}",
            f'[[package]]\nname = "{name}"\nchecksum = "{_hex(r, 64)}"',
            f'    {{file = "{name}.tar.gz", hash = "sha256:{_hex(r, 64)}"}},',
            f"  /{name}@{r.randint(1, 9)}.0.1:\n    resolution: {{integrity: sha512-{_base64(r, 64)}}}",
            f'{name}@^1.2.3:\n  resolved "https://registry.example.org/{name}.tgz#{_hex(r, 40)}"\n  integrity sha1-{_base64(r, 20)}',
            f"FROM python@sha256:{_hex(r, 64)}",
            f"    --hash=sha256:{_hex(r, 64)} \\",
            f"oid sha256:{_hex(r, 64)}",
        ]
    return "\n".join(rows)


def pictures(r: random.Random) -> str:
    long, wrapped = _base64(r, 3000), base64.encodebytes(r.randbytes(1500)).decode()
    small = _base64(r, 90)
    return f'![a](data:image/png;base64,{long})\nbackground: url("data:image/svg+xml;base64,{small}")\n{{"image/png": "{long}"}}\n\n{wrapped}\n'


def certificate(r: random.Random) -> str:
    lines = base64.b64encode(r.randbytes(800)).decode()
    body = "\n".join(lines[n : n + 64] for n in range(0, len(lines), 64))
    return f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_base64(r, 32)[:43]} bob@host"


def minified(r: random.Random) -> str:
    names = "abcdefghijklmnopqrstuvwxyz"
    return "".join(
        f"function {r.choice(names)}({r.choice(names)},{r.choice(names)}){{return {r.choice(names)}.{_camel(r)}({r.randint(0, 99)})||!{r.choice([0, 1])}}}"
        f"var {r.choice(names)}={{{_word(r)}:{r.choice(names)}.{_camel(r)},key:e.key,token:t.token}};"
        for _ in range(40)
    )


def log_lines(r: random.Random) -> str:
    return "\n".join(
        f"2026-11-{r.randint(1, 28):02d}T{r.randint(0, 23):02d}:00:{r.randint(0, 59):02d}.{r.randint(0, 999):03d}Z INFO [{_word(r)}-{r.randint(1, 9)}] {_word(r)}:"
        f" {_camel(r)} took {r.randint(1, 900)}ms trace={_hex(r, 32)} span={_hex(r, 16)} ip=10.0.{r.randint(0, 255)}.7 pod={_word(r)}-{_hex(r, 10)}-{_hex(r, 5)}"
        for _ in range(30)
    )


def code(r: random.Random) -> str:
    return "\n".join(
        f"def {_word(r)}_{_word(r)}(password: str, token: {_camel(r)[:1].upper() + _camel(r)[1:]}, api_key: str | None = None) -> None:\n"
        f"    password = getpass()\n    token = get_token(request)\n    key = {_word(r)}.{_camel(r)}\n    max_tokens={r.randint(1, 9999)}, key_size={r.randint(1, 9999)}\n"
        f"    client = Client(api_key=settings.api_key, password=os.environ['DB_PASSWORD'])\n    {_word(r).upper()}_{_word(r).upper()}_{r.randint(1, 99)} = {_word(r)}_{r.randint(1, 99)}"
        for _ in range(20)
    )


def prose(r: random.Random) -> str:
    return " ".join(_word(r) + r.choice(["", "", "", ",", ".", ":", "\n"]) for _ in range(600))


def languages(r: random.Random) -> str:
    said = (
        "Das Passwort ist im Tresor, bitte nie im Code. Le mot de passe est obligatoire pour tous. La contraseña es obligatoria y"
        " privada. A senha é pessoal e intransferível. La parola è importante. Hasło jest wymagane. Пароль обязателен для входа."
        " Şifre gereklidir. 密码是必填项，请不要提交到仓库。 パスワードは必須です。 비밀번호는 필수입니다. Wachtwoord is verplicht. Heslo je povinné."
        " Clave: el orden de los pasos. Schlüssel: siehe unten. Mot de passe : voir le coffre. Ключ: см. документацию."
    ).split(" ")
    return " ".join(r.choice(said) for _ in range(300)) + "\n" + " ".join(said)


def identifiers(r: random.Random) -> str:
    return "\n".join(
        f"toolu_01{''.join(r.choices(string.ascii_letters + string.digits, k=22))} msg_01{''.join(r.choices(string.ascii_letters + string.digits, k=22))}"
        f" {_camel(r)} {_word(r)}_{_word(r)}_{r.randint(1, 99)} {_word(r).upper()}_{r.randint(1, 9)} v{r.randint(0, 9)}.{r.randint(0, 99)}.{r.randint(0, 9)}-rc.{r.randint(1, 9)}"
        f" {_word(r)}-{_hex(r, 8)}.js index-{_hex(r, 20)}.css i-0{_hex(r, 16)} ami-{_hex(r, 17)} 0x{_hex(r, 40)} arn:aws:iam::{r.randint(10**11, 10**12 - 1)}:role/{_camel(r)}"
        for _ in range(30)
    )


MAKERS: tuple[Callable[[random.Random], str], ...] = (
    git_log, uuids, paths, urls, package_lock, other_locks, pictures, certificate, minified, log_lines, code, prose,
    languages, identifiers,
)  # fmt: skip
