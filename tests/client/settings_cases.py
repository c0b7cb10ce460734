"""Settings files that the client skips as a whole, and others that it reads: the end-to-end tests show both to it.

SKIPPED: settings, and the key that the client names. `hooks` are added to those of the test, for which HOOKS stands."""

from tables import rows

COMMAND = {"type": "command", "command": "true"}
SKIPPED, READ, SKIPPED_TEXTS, READ_TEXTS = (
    rows(__file__, name) for name in ("SKIPPED", "READ", "SKIPPED_TEXTS", "READ_TEXTS")
)
SKIPPED_TEXTS["more than the client reads"] = '{"x": "' + "a" * 2_200_000 + '", "hooks": HOOKS}'
