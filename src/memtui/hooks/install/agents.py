"""The coding agents of this machine: which are there, which run memtui's hooks, and what a person still has to do."""

from dataclasses import dataclass

from memtui.base import fastjson_hot, fs_hot
from memtui.base.errors import MemtuiError
from memtui.client.agents import programs
from memtui.client.agents.program import PROGRAM, Env, Program
from memtui.hooks.install import installation as install

READY, UNTRUSTED, OLD, ABSENT, BROKEN = "hooked", "not trusted", "not up to date", "not hooked", "can't be read"


@dataclass
class AgentSetup:
    """How memtui is set up for one agent. `state`: one of the words above; `remedy`: what a person has to do then."""

    program: Program
    path: str
    state: str
    remedy: str = ""

    @property
    def words(self) -> str:
        """The state, with what to do about it; an agent says itself that it does not trust hooks yet."""
        return self.remedy if self.state == UNTRUSTED else ": ".join(filter(None, (self.state, self.remedy)))

    @property
    def has_hooks(self) -> bool:
        return self.state in {READY, UNTRUSTED, OLD}


def other_agents(env: Env) -> list[AgentSetup]:
    """List the agents of this machine beside Claude Code."""
    return [_look(env, program) for program in programs.every() if program is not PROGRAM and program.is_present(env)]


def hooked(root: str) -> list[str]:
    """List the other agents for which memtui's list names hooks, as people call them; none where it is damaged."""
    records = fastjson_hot.table(fs_hot.read_table(install.installs_path(root), "settings"), "files").values()
    names = {record.get("agent") for record in records if isinstance(record, dict)}
    return [program.title for program in programs.every()[1:] if program.name in names]


def plan(program: Program, action: install.Action, env: Env) -> install.SettingsPlan:
    """Plan what an action does to the hooks of another agent than Claude Code. Raises MemtuiError."""
    return install.plan(program.hooks_file(env), action, env=env, scope="user", program=program)


def _look(env: Env, program: Program) -> AgentSetup:
    path = program.hooks_file(env)
    command = f"memtui setup hooks --agent {program.name}"
    try:
        if not plan(program, "uninstall", env).changed:
            return AgentSetup(program, path, ABSENT, command)
        if plan(program, "install", env).changed:
            return AgentSetup(program, path, OLD, command)
        trust = program.trust(env)
    except MemtuiError as error:
        return AgentSetup(program, path, BROKEN, f"{error.message} {error.hint}".strip())
    return AgentSetup(program, path, UNTRUSTED if trust else READY, trust)
