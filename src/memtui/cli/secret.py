"""What somebody leaves may hold a secret: asked before it is kept, and taken out where nobody can be asked."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.context import Context

HELP = "keep a secret that is in it, without asking"


def checked(ctx: "Context", text: str, *, yes: bool, otherwise: str, before: str = "") -> "tuple[str, list[str]]":
    """The text as it may be kept, and the kinds of secrets that were taken out of it.

    A person is asked, and a no raises MemtuiError, saying `otherwise`. A script's text is kept without the secret, so
    that nothing else of it is lost, and it is told. With `yes` all is kept. What stood in `before` is no news.
    """
    from memtui.core.redaction import redact
    from memtui.present import secret

    kinds = [] if yes else redact.kinds_in(text, before)
    if kinds and not ctx.can_ask:
        ctx.out.say(f"memtui: {secret.suspicion(kinds)}, which was taken out; --yes keeps it.")
        return redact.redact(text)[0], kinds
    if kinds:
        ctx.confirm(f"{secret.question(kinds)} Leave it in?", otherwise)
    return text, []


def asked(ctx: "Context", text: str, *, yes: bool, otherwise: str) -> None:
    """Ask before a text is kept that can't be changed. Raises MemtuiError for no, and where nobody can answer."""
    from memtui.core.redaction import redact
    from memtui.present import secret

    kinds = [] if yes else redact.kinds_in(text)
    if kinds:
        unasked = otherwise if ctx.can_ask else f"{secret.suspicion(kinds)}. {otherwise}"
        ctx.confirm(f"{secret.question(kinds)} Leave it in?", unasked)


def checked_bytes(ctx: "Context", data: bytes, *, yes: bool, otherwise: str, before: bytes = b"") -> bytes:
    """As `checked`, for a file's content."""
    text = data.decode("utf-8", "surrogateescape")
    known = before.decode("utf-8", "surrogateescape")
    return checked(ctx, text, yes=yes, otherwise=otherwise, before=known)[0].encode("utf-8", "surrogateescape")
