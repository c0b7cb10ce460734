"""What the health screen can do: install hooks, trust, settle, fix indexes, change settings. Each is what the command
line does; what can't be taken back with z asks first."""

from collections.abc import Awaitable, Callable

from memtui import actions
from memtui.core.base import fs, ids
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding
from memtui.core.health import findings, fixes, retention
from memtui.core.health.index_report import Report
from memtui.core.journal.changes.file_change import FileChange
from memtui.core.memories import memory
from memtui.core.places import locate
from memtui.core.settings import config, setting
from memtui.core.settings import edit as config_edit
from memtui.core.settings.modes import Mode
from memtui.core.settings.setting import Setting, Value
from memtui.present import editor
from memtui.present import fixes as fix_words
from memtui.tui import hooks_offer
from memtui.tui.dialogs.ask import Choice, Sure
from memtui.tui.dialogs.conflict import difference
from memtui.tui.dialogs.preview import Preview
from memtui.tui.dialogs.setting import SettingScreen
from memtui.tui.model import autosave
from memtui.tui.screens.frame import Base
from memtui.tui.screens.health.checks import Look, Row

CONFIG = "config.toml"
KEPT = "What you typed is kept: {health.edit} on this screen opens it again in your editor."
HERE, ALL = "here", "all"
# What a fix does, by its id.
FIXES = {
    "install": "shows what would be written, and installs the hooks",
    "trust": "shows these memories, and trusts them as shown",
    "again": "delivers this guidance again, or withdraws it, after asking",
    "withdraw": "withdraws it, after asking",
    "guidance": "settles what can be settled",
    "index": "shows what would be written: missing lines added, those that point nowhere removed",
    "errors": "sets the errors aside, beside the log",
    "files": "makes them yours alone",
    "config": "opens config.toml in your editor",
    "collect": "removes for good what is due, after asking",
}


class Fixes(Base):
    """The actions of the health screen."""

    found: Look

    @property
    def row(self) -> Row | None:
        """The line under the cursor."""
        raise NotImplementedError

    def done(self, words: str) -> None:
        """Tell what was done, and look again."""
        self.main.say(words)
        self.main.read()

    # findings

    def fix_of(self, row: Row | None) -> tuple[str, Callable[[], object]] | None:
        """What F does on a row, in words, and the doing of it; None where a person has to."""
        about = row.about if row else None
        what, subject = "", ""
        if isinstance(about, Report):
            what, subject = ("index" if about.fixable else ""), f"index:{about.scope.label}"
        elif isinstance(about, Finding):
            what, subject = findings.fix_of(about), about.subject
        elif row is not None and row.kind == "error":
            what = "errors"
        doing = {
            "install": self.do_health_install,
            "trust": self.do_health_trust,
            "config": self._edit_config,
            "index": lambda: self._fix_index(subject),
            "again": lambda: self._ask_of_note(subject, again=True),
            "withdraw": lambda: self._ask_of_note(subject, again=False),
            "collect": self._collect,
        }
        return (FIXES[what], doing.get(what, lambda: self._fix(what, subject))) if what else None

    def do_health_fix(self) -> object:
        """Do what the row says."""
        fix = self.fix_of(self.row)
        return fix[1]() if fix is not None else None

    def _fix(self, what: str, subject: str = "") -> None:
        """Make a fix that needs no question, or whose question was answered."""
        try:
            self._tell(fixes.fix(self.main.data.store(), what, subject))
        except MemtuiError as error:
            self.main.fail(error)

    def _tell(self, done: fixes.Outcome) -> None:
        self.done(fix_words.words(done) + f" {actions.takes_back()}" * (done.undoable and bool(done.changed)))

    def _fix_index(self, subject: str) -> None:
        """Show what MEMORY.md would become, and write it if that is wanted."""
        store = self.main.data.store()
        shown = fixes.fixable(store, subject)
        if not shown:
            self.done("There is nothing left to fix.")
            return

        def then(yes: bool | None) -> None:
            if yes:
                try:
                    self._tell(fixes.index(store, shown))
                except MemtuiError as error:
                    self.main.fail(error)

        text = difference(shown[0].index.raw, shown[0].fixed, ("the file now", "the fixed file"))
        self.app.push_screen(Preview(f"MEMORY.md of {shown[0].scope.label} becomes", text, "write it"), then)

    def _ask_of_note(self, subject: str, *, again: bool) -> None:
        """What shall become of guidance that is not delivered: a person's words are not thrown away unasked."""
        item = fixes.note(self.main.data.root, subject)
        options = [("again", "Deliver it again")] if again else []
        options += [("go", "Go to it, and change it there"), ("withdraw", "Withdraw it: no session is told")]

        def then(answer: str | None) -> None:
            if answer == "go":
                self.main.go_to_note(item)
            elif answer:
                self._fix(answer, subject)

        self.app.push_screen(Choice(f"“{' '.join(item.text.split())[:200]}”", options), then)

    def _collect(self) -> None:
        """Say what is kept no longer, and remove it if that is wanted."""
        data = self.main.data
        keep = retention.limits(data.root)
        due = "; ".join(words for _, words in fix_words.due(retention.due(data.root, data.now()), keep, dry=True))

        def then(yes: str | None) -> None:
            if yes:
                self.run_worker(self._collected, thread=True, exclusive=True, group="collect")

        self.app.push_screen(Sure(f"Remove for good, with no undo: {due}?", "Remove for good"), then)

    def _collected(self) -> None:
        self.app.call_from_thread(self._tell, fixes.fix(self.main.data.store(), "collect"))

    def _edit_config(self) -> None:
        """In the person's editor; what could not be saved the last time is there again."""
        data = self.main.data
        before = fs.read_or_empty(config.file_path(data.root))
        kept = autosave.load(data.root, CONFIG)
        given = str(kept["text"]).encode("utf-8", "surrogateescape") if kept.get("text") else before
        with self.app.suspend():
            after = editor.edited(data.env, "config.toml", given)
        if after == before:
            autosave.drop(data.root, CONFIG)
        else:
            self._save_config(str(kept.get("base") or ids.digest(before)), after)

    def _save_config(self, base: str, after: bytes) -> None:
        """Save it over the file that it was typed over (`base`); else show both and ask. Until then it is kept."""
        data = self.main.data
        path = config.file_path(data.root)
        autosave.save(data.root, CONFIG, {"text": after.decode("utf-8", "surrogateescape"), "base": base})
        try:
            config_edit.parse(after.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise MemtuiError("That is not UTF-8 text: nothing was saved.", actions.keyed(KEPT)) from error
        except MemtuiError as error:
            raise MemtuiError(f"Nothing was saved: {error.message}", actions.keyed(KEPT)) from error
        there = fs.read_or_empty(path)
        if ids.digest(there) != base:
            self._ask_of_config(there, after)
            return
        change = FileChange(path, there or None, after or None, fs.FILE_MODE)
        data.journal().run("config", [change], "edit config.toml")
        autosave.drop(data.root, CONFIG)
        self.done(f"Saved config.toml. {actions.takes_back()}")

    def _ask_of_config(self, there: bytes, mine: bytes) -> None:
        from memtui.tui.dialogs.conflict import MINE, THEIRS, Conflict

        def then(answer: str | None) -> None:
            try:
                if answer == MINE:
                    self._save_config(ids.digest(there), mine)
                elif answer == THEIRS:
                    autosave.drop(self.main.data.root, CONFIG)
                else:
                    self.main.say(actions.keyed(KEPT))
            except MemtuiError as error:
                self.main.fail(error)

        self.app.push_screen(Conflict(memory.from_bytes("/config.toml", "", there), mine), then)

    def _kept_config(self) -> bool:
        return bool(autosave.load(self.main.data.root, CONFIG).get("text"))

    # hooks, trust, claims

    def do_health_install(self) -> Awaitable[None]:
        """Show the diff, ask where, install."""
        return hooks_offer.change_hooks(self.main, "install")

    def do_health_uninstall(self) -> Awaitable[None]:
        """Show the diff, ask where, take out."""
        return hooks_offer.change_hooks(self.main, "uninstall")

    def do_health_trust(self) -> None:
        """Trust the project's memories after showing them, as Memories does."""
        from memtui.tui.dialogs.trust_choice import Trusting

        data = self.main.data
        directory, _ = locate.project_dir(data.env, data.cwd)
        asked = Trusting(data, directory, ())

        def then(answer: str | None) -> None:
            if answer:
                try:
                    asked.do(answer)
                except MemtuiError as error:
                    self.main.fail(error)
                    return
                self.done(asked.done(answer))

        self.app.push_screen(Choice(asked.title, asked.entries, asked.current, about=asked.about), then)

    def do_health_settle(self) -> None:
        """Settle every claim that the transcripts tell about."""
        self._fix("guidance")

    # settings

    def _assign(self, key: str, value: Value | None, project: str | None) -> None:
        try:
            changed = setting.assign(self.main.data.root, self.main.data.journal(), key, value, project)
        except MemtuiError as error:
            self.main.fail(error)
            return
        where = f" for {project}" if project else ""
        said = "the default" if value is None else config_edit.written(value)
        self.done(f"{key} is {said}{where}. {actions.takes_back()}" if changed else f"{key} was that already.")

    def do_health_edit(self) -> None:
        """Another value for the setting, another mode for the project, under the cursor."""
        about = self.row.about if self.row else None
        if self._kept_config():
            self._edit_config()
        elif isinstance(about, Mode):
            self._edit_mode(about)
        elif isinstance(about, Setting):
            self._edit_setting(about)

    def _edit_mode(self, about: Mode) -> None:
        options = [(mode, mode) for mode in config.MODES]
        if about.path:
            options.append(("", "as everywhere"))

        def then(mode: str | None) -> None:
            if mode is not None:
                self._assign("mode", mode or None, about.path or None)

        self.app.push_screen(Choice(f"Mode of {about.path or 'every project'}", options, about.mode), then)

    def _edit_setting(self, about: Setting) -> None:
        default = about.default
        if about.key not in config.CHOICES and not isinstance(default, bool):

            def typed(value: Value | None) -> None:
                if value is not None:
                    self._assign(about.key, value, None)

            self.app.push_screen(SettingScreen(about), typed)
            return
        values = list(config.CHOICES.get(about.key, ("true", "false")))
        options = [(f"{ALL} {value}", f"{value}, in every project") for value in values]
        if about.key in config.PER_PROJECT:
            options += [(f"{HERE} {value}", f"{value}, in this project only") for value in values]
        else:
            options = [(f"{ALL} {value}", value) for value in values]

        def then(answer: str | None) -> None:
            if answer is not None:
                where, _, word = answer.partition(" ")
                project = self.main.data.project_root if where == HERE else None
                self._assign(about.key, setting.value_of(about.key, word), project)

        where = HERE if about.source == "project" else ALL
        value = about.value if isinstance(about.value, str) else config_edit.written(about.value)
        self.app.push_screen(Choice(f"{about.key}: {setting.MEANINGS[about.key]}", options, f"{where} {value}"), then)

    def do_health_default(self) -> None:
        """Back to the default, or for a project to what holds everywhere."""
        about = self.row.about if self.row else None
        if isinstance(about, Setting):
            self._assign(about.key, None, self.main.data.project_root if about.source == "project" else None)
        elif isinstance(about, Mode):
            for key in about.own or ("mode",):
                self._assign(key, None, about.path or None)

    def why_not(self, action_id: str) -> str:
        """What needs another row, or something to do it to."""
        verb = action_id.partition(".")[2]
        row = self.row
        if verb == "fix" and self.fix_of(row) is None:
            remedy = findings.remedy(row.about) if row is not None and isinstance(row.about, Finding) else ""
            return f"This is for you to do: {remedy}" if remedy else "There is nothing to fix here."
        if verb == "edit" and not self.main.read_only and self._kept_config():
            return ""
        if verb in {"edit", "default"} and (row is None or row.kind not in {"mode", "setting"}):
            key = actions.key_of("app.settings")
            return f"Stand on a setting or a mode first: {key} goes there."
        if verb == "edit" and self.main.read_only and row is not None and row.kind in {"mode", "setting"}:
            return "memtui runs with --read-only."
        if verb == "default" and row is not None:
            about = row.about
            if (isinstance(about, Setting) and about.source == "default") or (
                isinstance(about, Mode) and about.path and not about.own
            ):
                return "That is the default already."
        if verb == "uninstall" and not (self.found.hooks and self.found.hooks.installed):
            return "No hooks are installed."
        if verb == "trust" and not (self.found.trusted and (self.found.trusted.new or self.found.trusted.changed)):
            return "There is nothing to trust: this project brings no memories that are not trusted."
        return ""
