"""`python -m memtui`, and the script that a status line with `--after` starts: `python -I -S …/memtui/__main__.py`."""

import sys

if not __package__:
    sys.path.insert(0, __file__[: -len("/memtui/__main__.py")])

from memtui.cli.main import main

sys.exit(main())
