"""Real repositories for tests: git without the settings of whoever runs them, and whole histories in one go."""

import os
import subprocess

SETTINGS = tuple(
    word
    for setting in ("user.name=A", "user.email=a@example.com", "commit.gpgsign=false", "core.hooksPath=/dev/null")
    for word in ("-c", setting)
)


def git(top, *words, data=None):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    done = subprocess.run(["git", "-C", top, *SETTINGS, *words], check=True, capture_output=True, env=env, input=data)
    return done.stdout.decode("utf-8", "replace")


def commit(top, files, *words):
    """Commit files, by path, None for one that is removed; a repository is made where there is none. Its id."""
    if not (top / ".git").exists():
        top.mkdir(parents=True, exist_ok=True)
        git(top, "init", "-q", "-b", "main")
    for path, text in files.items():
        place = os.path.join(os.fsencode(top), os.fsencode(path))
        if text is None:
            os.unlink(place)
            continue
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
    git(top, "add", "-A")
    git(top, "commit", "-qm", "change", *words)
    return git(top, "rev-parse", "HEAD").strip()


def fast_import(top, steps):
    """Make a repository of steps (parents by number, changed files by path, None for a removed one), a second apart."""
    top.mkdir(parents=True, exist_ok=True)
    git(top, "init", "-q", "-b", "main")
    stream = []
    for number, (parents, files) in enumerate(steps):
        stream.append(f"commit refs/heads/main\nmark :{number + 1}\ncommitter A <a@example.com> {number + 1} +0000\n")
        stream.append("data 0\n" + "".join(f"{'merge' if at else 'from'} :{p + 1}\n" for at, p in enumerate(parents)))
        for path, text in files.items():
            stream.append(f"D {path}\n" if text is None else f"M 100644 inline {path}\ndata {len(text)}\n{text}\n")
    git(top, "fast-import", "--quiet", "--force", data="".join(stream).encode())
    return git(top, "log", "--format=%H", "--reverse", "--date-order").split()
