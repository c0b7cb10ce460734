"""The script that the hooks in a settings file start. Python compiles it at every start, so it is small. Fails open."""

import posix
import sys

try:
    here = __file__[: -len("launch.py")]
    sys.path.insert(0, here[: -len("/memtui/hooks/")])
    try:  # to load it from where it is: to list directories for it takes longer
        load = sys.modules["_frozen_importlib"]._load  # noqa: SLF001
        spec = sys.modules["_frozen_importlib_external"].spec_from_file_location
        load(spec("memtui.hooks.bundle", here + "bundle.py"))
    except (KeyError, AttributeError):
        pass
    from memtui.hooks.bundle import main

    main(sys.argv[1:])
except BaseException:  # whatever happened, the prompt goes on
    pass
# Nothing is buffered, and an orderly shutdown of the interpreter costs as much as all of the above.
posix._exit(0)  # noqa: SLF001
