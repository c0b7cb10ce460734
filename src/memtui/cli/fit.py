"""Whether guidance fits into a delivery, as the hooks decide it."""

from memtui.cli.context import Context
from memtui.core import claims, config, inbox, render
from memtui.hooks import deliver

# A note that comes back says that it is a repeat, and its age takes more letters by then.
LATER_UNITS = 80


def over(ctx: Context, entry: inbox.Entry, scope: str, directory: str) -> int:
    """UTF-16 units by which an entry of guidance is too long for any delivery; 0 or less: it fits."""
    claim = claims.Claim(directory, "", 0, [(entry, "")])
    (block,) = deliver.guidance_blocks([(scope, claim)], ctx.now())
    budget = config.number(ctx.settings(), "budget")
    text = render.compose([block], budget + 10 * inbox.MAX_BYTES, "0" * deliver.ID_UNITS)[0]
    return render.units(text) + LATER_UNITS - budget


def fits(ctx: Context, entry: inbox.Entry, scope: str, directory: str) -> bool:
    """Whether an entry of guidance can be delivered at all."""
    return over(ctx, entry, scope, directory) <= 0
