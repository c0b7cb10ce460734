"""Secrets in a text that a person or a script leaves: ask before one is kept, take it out where nobody can be asked."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.context import Context

YES_HELP = "keep secrets in the text, without asking"


def checked(ctx: "Context", text: str, *, yes: bool, declined: str, before: str = "") -> "tuple[str, list[str]]":
    """Ask about secrets in a text, or take them out if nobody answers; return it and the kinds. Raises MemtuiError."""
    if ctx.can_ask:
        confirm(ctx, text, yes=yes, declined=declined, before=before)
        return text, []
    from memtui.redact import redact

    kinds = [] if yes else redact.kinds_in(text, before)
    if not kinds:
        return text, []
    from memtui.views import secret

    was, them = ("was", "it") if len(kinds) == 1 else ("were", "them")
    ctx.out.say(f"memtui: {secret.suspicion(kinds)}, which {was} taken out; --yes keeps {them}.")
    return redact.redact(text)[0], kinds


def checked_bytes(ctx: "Context", data: bytes, *, yes: bool, declined: str, before: bytes = b"") -> bytes:
    """Return a file's content as it may be kept, as `checked` does."""
    text, old = (raw.decode("utf-8", "surrogateescape") for raw in (data, before))
    return checked(ctx, text, yes=yes, declined=declined, before=old)[0].encode("utf-8", "surrogateescape")


def confirm(ctx: "Context", text: str, *, yes: bool, declined: str, before: str = "") -> None:
    """Ask about a secret in a text that can't be changed, unless `before` has it too. Raises MemtuiError for no."""
    from memtui.redact import redact
    from memtui.views import secret

    if kinds := [] if yes else redact.kinds_in(text, before):
        message = declined if ctx.can_ask else f"{secret.suspicion(kinds)}. {declined}"
        ctx.confirm(f"{secret.question(kinds)} Leave it in?", message)
