"""The warning of `memtui note` about a session or an agent that is not known here."""

from memtui.cli.context import Context
from memtui.cli.output import line
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.core.review.addressees import strangers
from memtui.present.addressees import meant, why


def warned(ctx: Context, entry_id: str, addresses: str, slug: "str | None") -> "list[dict[str, object]]":
    """Print why a note that was saved may reach nobody, and how to change that; return the same for --json. `addresses`
    is its field `for`, `slug` its project."""
    given = addresses.split(",")
    found = strangers(ctx.root, ctx.config_dir, given, slug)
    note = short_id(entry_id)
    for each in found:
        remedy = f"To withdraw it: memtui note --withdraw {note}"
        if each.near:  # --edit replaces all addressees
            better = [f"{each.kind}:{each.near[0]}" if address == each.address else address for address in given]
            remedy = f"To change it: memtui note --edit {note} " + " ".join(f"--to {shell_word(one)}" for one in better)
        ctx.out.say(" ".join(filter(None, (f"! {why(each)}", meant(each)))) + f"\n  {line(remedy)}")
    return [{"address": e.address, "why": why(e), "near": [f"{e.kind}:{n}" for n in e.near]} for e in found]
