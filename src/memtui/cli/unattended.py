"""What a command that a worker starts, and that nobody watches, must not believe."""

from memtui.cli.context import Context
from memtui.core.base.errors import MemtuiError
from memtui.core.places import settings_files

# Variables that say, beside those of ANTHROPIC_, which model is asked, by which way, and with which key.
MODELS = ("CLAUDE_CONFIG_DIR", "PATH", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NODE_OPTIONS")


def must_be_believed(ctx: Context) -> None:
    """Raise MemtuiError if a project's settings say which model is asked, or with which key: a worker inherits them."""
    for directory in dict.fromkeys((ctx.cwd, ctx.project_root)):
        for path, name in settings_files.variables(ctx.env, directory):
            if name in MODELS or name.startswith("ANTHROPIC_"):
                raise MemtuiError(f"{path} sets {name}, so no model is asked unattended here.")
