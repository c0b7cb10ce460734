"""The sources of another revision of this repository, to be measured beside these in one run."""

import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]


def sources(revision: str, directory: Path) -> Path:
    """Put the `src` of a revision below a directory, compiled, and say where. Raises CalledProcessError if git can't."""
    directory.mkdir()
    packed = subprocess.run(["git", "-C", str(REPO), "archive", revision, "src"], check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(directory)], input=packed.stdout, check=True)
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(directory)], check=True)
    return directory / "src"
