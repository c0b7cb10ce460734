"""What a call of a model must not believe: the address, the key and the way that a project's settings chose. They may
have come with a repository, and what is sent may be of other projects."""

from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError
from memtui.core.places import settings_files

# Variables that say, beside those of ANTHROPIC_, which model is asked, by which way, and with which key.
MODELS = ("CLAUDE_CONFIG_DIR", "PATH", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NODE_OPTIONS")


def must_be_own(env: dict[str, str], cwd: str) -> None:
    """Raise MemtuiError if an environment has a variable that says which model is asked, or with which key, and that
    the settings of the project of `cwd` set: a session hands it to whatever it starts."""
    places = (cwd, paths.project_root(cwd), env.get("CLAUDE_PROJECT_DIR", ""))
    for directory in dict.fromkeys(filter(None, places)):
        for path, name in settings_files.variables(env, directory):
            if name in env and (name in MODELS or name.startswith("ANTHROPIC_")):
                raise MemtuiError(
                    f"{path} sets {name}, so no model is asked here: your memories could go where a repository says.",
                    f"Take {name} out of that file. Your own ~/.claude/settings.json may set it; or ask from a "
                    "directory outside of this project.",
                )
