"""What is measured beside something else in one run: the sources of another revision of this repository, too."""

import statistics
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


def compared(these: list[float], those: list[float]) -> float:
    """The median of the ratios, round by round."""
    return statistics.median([a / b for a, b in zip(these, those, strict=True)])
