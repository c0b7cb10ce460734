"""Whether guidance fits into a delivery, as the hooks decide it."""

from memtui.core.base import clock, visible
from memtui.core.base.errors import UsageError
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.inbox import claims
from memtui.core.inbox import format as inbox_format
from memtui.core.settings import config
from memtui.hooks import deliver

TYPE_CHECKING = False
if TYPE_CHECKING:
    Settings = dict[str, object]
# A note that comes back says that it is a repeat, and its age takes more letters by then.
LATER_UNITS = 80


def over(settings: "Settings", now: float, entry: inbox_format.Entry, scope: str, directory: str) -> int:
    """UTF-16 units by which an entry of guidance is too long for any delivery; 0 or less: it fits."""
    claim = claims.Claim(directory, "", 0, [(entry, "")])
    (block,) = deliver.guidance_blocks([(scope, claim)], now)
    budget = config.number(settings, "budget")
    text = delivery_blocks.compose([block], budget + 10 * inbox_format.MAX_BYTES, "0" * deliver.ID_UNITS)[0]
    return delivery_blocks.units(text) + LATER_UNITS - budget


def check(settings: "Settings", now: float, text: str, fields: "dict[str, str]", scope: str, directory: str) -> None:
    """Raise UsageError for guidance that is too long for any delivery."""
    entry = inbox_format.Entry("0" * deliver.ID_UNITS, {**fields, "time": clock.iso_seconds(now)}, text, "", 0)
    too_long = over(settings, now, entry, scope, directory)
    if too_long > 0:
        units = delivery_blocks.units(visible.clean(text))
        raise UsageError(
            f"The guidance is {units:,} characters long, and {max(0, units - too_long):,} fit into one delivery.",
            "Shorten it, or put the long part into a file and name the file.",
        )
