"""The settings: each with its default, its values (choices or range; empty: any), whether a project can have its own,
and its meaning. Hooks without a config.toml read only these."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODES, TOOLS = ("full", "notes", "off"), ("off", "read-only", "read + web", "full")
THEMES = ("dark", "light", "ansi-dark", "ansi-light")  # ctrl+t cycles through these; Textual has the others
MORE_THEMES = (
    "nord gruvbox dracula tokyo-night monokai flexoki catppuccin-mocha catppuccin-macchiato catppuccin-frappe"
    " catppuccin-latte solarized-dark solarized-light rose-pine rose-pine-moon rose-pine-dawn"
    " atom-one-dark atom-one-light"
)
BUDGET_RANGE = (500, 9800)
SETTINGS: "dict[str, tuple[object, tuple[Any, ...], bool, str]]" = {
    "mode": ("full", MODES, True, "what sessions get: full, notes, off"),
    "budget": (9000, BUDGET_RANGE, False, "characters of a delivery, 500 to 9800"),
    "drafts_max": (10, (), False, "drafts in one delivery"),
    "drafts_days": (30, (), False, "days that a draft is delivered"),
    "todos_max": (10, (), False, "todos in one delivery"),
    "extract": (True, (), True, "draft memories from what you say"),
    "extract_confidence": (0.5, (0, 1), False, "drafts below this are dropped, 0 to 1"),
    "banner": (True, (), True, "the line for you at a session's start"),
    "gate": ("show", ("off", "show", "ask"), True, "memories Claude writes: show, ask, off"),
    "keep_days": (180, (), False, "days until old data goes, 0: never"),
    "keep_mb": (100, (), False, "MB of versions kept, 0: no limit"),
    "dream": (False, (), False, "ask a model by itself, once a day"),
    "llm_backend": ("off", ("off", "auto", "api", "claude"), False, "ask a model: off, auto, api, claude"),
    "llm_model": ("haiku", (), False, "the model: haiku, sonnet, opus or id"),
    "llm_key": ("auto", ("auto", "none"), False, "send your key: auto, none"),
    "llm_daily_tokens": (1_000_000, (0, 1_000_000_000), False, "tokens a day, 0: no limit"),
    "llm_daily_dollars": (1.0, (0, 10_000), False, "dollars a day, 0: no limit"),
    "llm_timeout": (120, (5, 3600), False, "seconds of an answer, 5 to 3600"),
    "note_to": ("anyone", ("anyone", "people"), True, "whom notes are for: anyone, people"),
    "recall": ("careful", ("careful", "generous", "off"), True, "how to recall: careful, generous, off"),
    "recall_most": (5, (1, 20), False, "memories with one prompt, 1 to 20"),
    "recall_select": (False, (), True, "have a model select memories, too"),
    "share_auto": (False, (), True, "other agents get Claude's own memories"),
    "rules": ("on", ("on", "watch", "off"), True, "rules: on, watch (only count), off"),
    "sync_incoming": ("apply", ("apply", "ask"), False, "changes of your machines: apply, ask"),
    "sync_drafts": (False, (), False, "drafts are on all your machines"),
    "semantic": (False, (), False, "recall by a local sentence model, too"),
    "semantic_model": ("polyglot", (), False, "polyglot, english, or fastembed's id"),
    "subconscious": ("off", ("off", "notes", "full"), True, "reads sessions: off, notes, full"),
    "subconscious_tools": ("read-only", TOOLS, False, "off, read-only, read + web, or full"),
    "subconscious_model": ("auto", (), False, "its model: auto (llm_model) or id"),
    "glyphs": ("auto", ("auto", "unicode", "ascii"), False, "unicode, ascii, or auto: by the locale"),
    "theme": ("dark", (*THEMES, *MORE_THEMES.split()), False, "the TUI's colours: dark, light, nord …"),
}
DEFAULTS = {key: row[0] for key, row in SETTINGS.items()}
