"""Rules that the words of a memory say: one sentence for each form and language, and sentences that say none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.rules import proposals
from memtui.rules.proposals import rules_of_text
from memtui.rules.rule_hot import parse


def said(text: str) -> list[str]:
    return list(map(str, rules_of_text(text)))


PNPM = "never npm *, instead pnpm *"
LINT = "always make lint * before git commit *"
TO_MAIN = ["never git push * --force * main *", "never git push * -f * main *"]
HOOKS = ["never git commit * --no-verify *", "never git push * --no-verify *"]


@pytest.mark.parametrize(
    "text",
    [
        "use pnpm, not npm",
        "Use `pnpm` - never use npm.",
        "Always use pnpm instead of npm in this repository.",
        "We prefer `pnpm` over `npm`.",
        "Don't use npm. Use pnpm instead.",
        "Never run npm; use pnpm, because the lockfile is pnpm's",
        "**Package manager**: pnpm, not npm",
        "npm is not used here; use pnpm",
        "Benutze pnpm, nicht npm",
        "Bitte immer pnpm statt npm verwenden.",
        "Utilise pnpm, pas npm",
        "N'utilise jamais npm, utilise pnpm",
        "Usa pnpm en lugar de npm",
        "Non usare npm, usa pnpm",
        "Não use npm, use pnpm",
        "Используй pnpm вместо npm",
        "不要用 npm，用 pnpm",
        "使用 pnpm 而不是 npm",
        "npmではなくpnpmを使ってください",
        "npm 대신 pnpm을 사용하세요",
    ],
)
def test_one_command_instead_of_another(text: str) -> None:
    assert said(text) == [PNPM]


@pytest.mark.parametrize(
    "text",
    [
        "run `make lint` before committing",
        "Before every commit, run `make lint`.",
        "Never commit without running `make lint` first",
        "`make lint` must pass before you commit.",
        "Make sure `make lint` passes before each commit",
        "**Before every commit:** `make lint`",
        "Führe `make lint` vor jedem Commit aus",
        "Avant chaque commit, lance `make lint`",
        "Ejecuta `make lint` antes de cada commit",
        "Перед коммитом запускай `make lint`",
        "提交前先运行 `make lint`",
        "コミットする前に `make lint` を実行してください",
        "커밋 전에 `make lint` 실행",
    ],
)
def test_one_command_before_another(text: str) -> None:
    assert said(text) == [LINT]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Always use `bun`, never `node` or `npx`.", ["never node *, instead bun *", "never npx *, instead bun *"]),
        ("Never run `git push --force`", ["never git push * --force *"]),
        ("never edit files in `migrations/`", ["never migrations/**"]),
        ("Do not edit package-lock.json by hand — run npm install", ["never package-lock.json"]),
        ("Files in `gen/` are generated: do not edit them.", ["never gen/**"]),
        ("Ne modifie jamais `migrations/`", ["never migrations/**"]),
        ("Nie direkt in `gen/` schreiben", ["never gen/**"]),
        ("不要修改 `gen/`", ["never gen/**"]),
        ("update CHANGELOG.md whenever you change src/", ["always CHANGELOG.md with src/**"]),
        ("After editing `api.graphql`, run `npm run codegen`", ["always npm run codegen * with api.graphql"]),
        ("Run `make check` after every change.", ["always make check * with **"]),
        ("Run `cargo fmt && cargo test` before pushing", [f"always cargo {x} * before git push *" for x in ("fmt", "test")]),
        ("Run `make e2e` before opening a PR", ["always make e2e * before gh pr create *"]),
        ("Never use `console.log` in `src/`", ["never “console.log” in src/**"]),
        ("Use `toStrictEqual()` instead of `toEqual()`", ["never “toEqual(”, instead “toStrictEqual(”"]),
        ("Always call `resetCache()` after `stubEnv()`", ["always “resetCache(” with “stubEnv(”"]),
        ("Never skip the hooks (`--no-verify`).", HOOKS),
        ("Never amend commits", ["never git commit * --amend *"]),
        ("When committing:\n- do not add “Co-Authored-By: Bot” or similar", ["never git commit * *Co-Authored-By:* *"]),
        ("### 1. NEVER run these:\n\n```sh\nmake drop\n```", ["never make drop *"]),
        ("Stage single files, avoid `git add -A`", ["never git add * -A *"]),
        ("Before a commit, run:\n1. **Tests**\n   ```sh\n   go test ./...\n   ```", ["always go test * ./... * before git commit *"]),
        ("Forbidden commands:\n- `make drop`", ["never make drop *"]),
        ("## Never\n\n- Force push to main\n- Skip the tests", TO_MAIN),
        ("Ne jamais forcer push sur main/develop", [*TO_MAIN, *(rule.replace("main", "develop") for rule in TO_MAIN)]),
        ("Do not cite, copy, or edit `a.md`; if it is wrong, raise it as a question", ["never a.md"]),
        ("```sh\n# Checks (run before committing)\nmake lint\n# Others\nmake e2e\n```\n- `make dev`", [LINT]),
        ("**Checks (required before push):**\n```sh\nmake e2e\n# Or so\nmake\n```", ["always make e2e * before git push *"]),
        ("The `pytest` test suite. All tests must pass before committing.", ["always pytest * before git commit *"]),
        ("Never force-push.", ["never git push * --force *"]),
        ("Don't update files under `api/*.json`, as they are generated", ["never api/*.json"]),
        ("Run `hook run --all` before committing to catch lint errors", ["always hook run * --all * before git commit *"]),
        ("Use `is none` or `is some` instead of `!= none`", ["never “!= none”"]),
        ("Use the reader, not `cat`", ["never cat *"]),
        ("After any code changes, always run `make fmt` to keep the style", ["always make fmt * with **"]),
        ("Use `assertAll()` instead of `assertSome()` - see the guide on when it matters",
         ["never “assertSome(”, instead “assertAll(”"]),
        ("Never use em-dashes in replies", ["never “—” in a reply"]),
        ("Never write “I apologize” in your answers", ["never “I apologize” in a reply"]),
        ("Do not add `Co-Authored-By: Bot` lines to commits", ["never git commit * *Co-Authored-By:* *"]),
        ("Always use `bun` instead of `npm` for package management", ["never npm *, instead bun *"]),
        ("When installing packages, use `pnpm add` instead of `npm install package-name`",
         ["never npm install *, instead pnpm add *"]),
        ("Never run `make deploy` or start the server", ["never make deploy *"]),
        ("Never edit generated files (`gen/api.ts`, `snap/*`)", ["never gen/api.ts", "never snap/*"]),
        ("The client file at `gen/api.ts` must not be edited by hand", ["never gen/api.ts"]),
        ("Never run anything with the `--no-verify` flag", HOOKS),
        ("Check the style with `ruff check` before committing", ["always ruff check * before git commit *"]),
        ("Run both `make lint` and `make docs` before committing any changes",
         ["always make lint * before git commit *", "always make docs * before git commit *"]),
        ("Run `make fmt` after edits and before commits", ["always make fmt * before git commit *"]),
        ("Ensure all tests pass before pushing (`make test`)", ["always make test * before git push *"]),
        ("- Do not use sudo\n- run `./bin/check.sh` before pushing", ["never sudo *", "always check.sh * before git push *"]),
        ("Use `./check.sh` instead of `cargo test`", ["never cargo test *, instead check.sh *"]),
        ("Run `black` on all changed Python files", ["always black * with **/*.py"]),
        ("Do not use:\n- `npm`\n- `yarn` (old)", ["never npm *", "never yarn *"]),
        ("Never:\n- edit `gen/`\n- Run `make deploy`", ["never gen/**", "never make deploy *"]),
        ("These must not be changed:\n- `a/b.ts`: the contract", ["never a/b.ts"]),
        ("## Before each push\n\n1. **Style**: run `make fmt`\n2. fix what is left", ["always make fmt * before git push *"]),
        ("Never commit secrets, `.env`, or notes", ["never git add * .env *"]),
        ("Stage files with `git add`, never use `git add -A`", ["never git add * -A *"]),
        ("The server is running; do not run `make serve`", ["never make serve *"]),
        ("`make X` は使わない。", ["never make *"]),
        ("Never call `./gradlew` directly from the shell", ["never gradlew *"]),
        ("When Go or Rust code is changed, run `make test` before committing.",
         ["always make test * with **/*.go", "always make test * with **/*.rs"]),
        ("Before committing or opening a PR, run these and ensure that they pass:\n```sh\nmake lint\n```",
         [LINT, "always make lint * before gh pr create *"]),
        ("Before completing a task or committing, run `make lint`", [LINT]),
        ("Do not commit if `make lint` fails", [LINT]),
        ("`gen/` is written by the build. Never edit it.", ["never gen/**"]),
        ("`x.lock`: the versions (generated, do not edit by hand)", ["never x.lock"]),
        ("Lockfiles (`a.lock`, `b.lock`) must not be edited by hand", ["never a.lock", "never b.lock"]),
        ("## Forbidden\n- ❌ Skipping git hooks (`--no-verify`)\n- Modifying `a/b.py`",
         [*HOOKS, "never a/b.py"]),
        ("Any change to `a/api.ts` must be reflected in `b/api.md`", ["always b/api.md with a/api.ts"]),
        ("Run `make types` when any file under `src/` changes", ["always make types * with src/**"]),
        ("Before committing, always run:\n\n```bash\nmake fmt  # style\nmake lint\n```",
         ["always make fmt * before git commit *", "always make lint * before git commit *"]),
        ("- Run before pushing:\n  ```sh\n  cd app\n  make e2e\n  ```\n- `make lint`", ["always make e2e * before git push *"]),
        ("Before committing, verify:\n- [ ] style: `make lint`\n- [ ] no errors (`tsc --noEmit`)",
         [LINT, "always tsc * --noEmit * before git commit *"]),
        ("Before pushing, run the checks of HACKING.md (`make lint`, `pytest`) and others",
         ["always make lint * before git push *", "always pytest * before git push *"]),
        ("Run `cd app && make lint` before committing", [LINT]),
        ("Do not add new `*.spec.ts` files under `lib/`", ["never **/lib/**/*.spec.ts"]),
        ("Do not create an `old/` folder in `src/`", ["never src/old/**"]),
        ("Never add `x.lock` to `.gitignore`", ["never “x.lock” in .gitignore"]),
        ("No `NEWS.md`: the log is enough; do not create one", ["never NEWS.md"]),
        ("`pkg/old` has been removed; do not restore it.", ["never pkg/old/**"]),
        ("Never run `git push origin main --force`", TO_MAIN),
        ("`a.md` is generated from `a.json`; never edit it directly", ["never a.md"]),
        ("Use `src/new.ts` instead of `src/old.ts` for the setup", ["never src/old.ts, instead src/new.ts"]),
        ("Never call the tools directly (`cargo`, `go`, etc.). Always run the matching `mise run <task>` instead.",
         ["never cargo *, instead mise run *", "never go *, instead mise run *"]),
        ("Images are packed with `npm pack`, never `pnpm pack`", ["never pnpm pack *, instead npm pack *"]),
        ("Do not use npm to install dependencies", ["never npm install *"]),
        ("Direct pushes to `main` are never allowed", ["never git push * main *"]),
        ("Run `tsc` after editing `.ts`/`.tsx` files", ["always tsc * with *.ts", "always tsc * with *.tsx"]),
        ("| Don't | Do |\n| Never edit `go.sum` by hand. | Run `go mod tidy`. |", ["never go.sum"]),
        ("Never run `make drop` or create `x.lock`", ["never make drop *", "never x.lock"]),
        ("Direct execution of the tools (bun/uv) is **prohibited**", ["never bun *", "never uv *"]),
        ("```sh\n# ❌ never so\ncd app && make drop\n\n# ok\nmake\n```", ["never make drop *"]),
        ("```sh\nmake lint  # run before every commit, it is fast\nmake\n```", [LINT]),
        ("grep isn't available on macOS. Use ggrep", ["never grep *, instead ggrep *"]),
        ("Use Bun. Not npm/yarn.", ["never npm *, instead bun *", "never yarn *, instead bun *"]),
        ("`gen/a.ts`는 직접 수정하지 않는다", ["never gen/a.ts"]),
        ("`make lint`：检查；提交前至少保证通过", [LINT]),
        ("Never bypass hooks with `--no-verify`, `--no-gpg-sign`, or the like", [*HOOKS, "never git commit * --no-gpg-sign *"]),
        ("Don't touch `web-client`: I am at it", ["never **/web-client/**"]),
        ("If you have changed any PHP files, run `./pint` before you finish", ["always pint * with **/*.php"]),
        ("Stage paths. Never `git add .` or `-A`", ["never git add * . *", "never git add * -A *"]),
        ("Edit the source, never `dist/`.", ["never **/dist/**"]),
        ("## Pre-commit checklist\n- [ ] `make lint`", [LINT]),
        ("Before committing, run:\n```\nmake lint\n```", [LINT]),
    ],
)  # fmt: skip
def test_each_form(text: str, rules: list[str]) -> None:
    assert said(text) == rules


@pytest.mark.parametrize(
    "text",
    [
        "Never use npm unless I ask",
        "In production never run `npm install`",
        "Use pnpm for the frontend, not npm",
        "Never use npm. Except for publishing.",
        "## In CI\n\n- use npm, not pnpm",
        "For the old scripts:\n- use npm, not pnpm",
        "## Don't\n- Run `npm install` before committing",
        "Never use npm, whatever the guides and answers on the web may tell you,\nunless I ask for it",
        "You used npm, not pnpm",
        "Should I use pnpm, not npm?",
        "We moved from npm to pnpm",
        "It is fine to use npm, not only pnpm",
        "**Why:** never use npm",
        "```\nnever use npm\n```",
        "Never use `any`",
        "Never run `git checkout <branch>`",
        "Never run `git checkout X`",
        "Do never run `make drop`, `make wipe` or `git push` if it is not in a container.",
        "Run `./tool show c1c35c964733` before committing",
        "Use React, not Vue",
        "Update the changelog whenever you change the API",
        "Never force-push to a branch of others",
        "Use `pow()` instead of `**` while the old compiler is there",
        "Never run `npm install` or use yarn unless I ask",
        "When running tests in the browser, use npm instead of pnpm",
        "Do not use system python or pip",
        "Use npm instead of pnpm for the docs",
        "Never say never",
        "Avoid:\n- using `npm` instead of `pnpm`",
        "Never:\n- `git push` to main",
        "Before committing:\n- `make lint` if you changed the client",
        "## In CI\nBefore committing, run:\n- `make lint`",
        "Wrong:\n```bash\nnpm install\n```",
        "Never use `cat` to write files",
        "Before committing, run:\n```sh\n# Backend\nmake lint\n```",
        "```sh\n# Before committing, look at all\ngit add -A\n```",
        "Never run `git fetch` to main",
        "Never force-push to `main` if others work on it",
        "Never modify `docs/a.md`; if you are asked to, you may",
        "Run `make lint` before committing markdown that people read",
        "Never run npm. If the build needs it, you may.",
        'It returns `"a"` not `"b"`',
        "Never edit `/etc/hosts`",
        "Run `make lint` after making changes",
        "Run `make lint` before saying that the work is done",
        "Never run `make drop`, `make wipe`, or the like without explicit confirmation",
        "Never use: `cat`, `less`, or other tools to read logs",
        "Do not create `index.js` files everywhere",
        "Do not add `NOTES.md` files here",
        "Before pushing, run:\n- Backend: `make lint`",
        "Before pushing, run both if you touched them:\n- `make lint`",
        "- plain JS (no build, no npm)",
        "| `a.ts` | uses `maxAngle` (not `maxTick`) |",
        "Never add tests to `src/`",
        "Never change `package.json` scripts",
        "Run `make lint` after code changes to see that all is well",
        "Run `make fmt --write` on the log that you touched before committing",
        "Never run `make drop` automatically",
        "Components never call `axios` directly",
        "- Pre-push (husky): `make lint`",
        "- `make lint` - what CI runs before a PR",
        "Entries in `log.py` must never be changed",
        "",
    ],
)
def test_no_rule_is_guessed(text: str) -> None:
    assert said(text) == []


def test_two_sentences_that_contradict_each_other_make_no_rule() -> None:
    assert said("Use pnpm, not npm.\nUse npm, not pnpm.") == []


WORDS = [
    "never",
    "use",
    "npm",
    "`pnpm`",
    "not",
    "`src/`",
    "before",
    "committing",
    "run",
    "edit",
    ",",
    ".",
    "\n- ",
    "*",
    "`",
]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=14))
def test_whatever_is_written_each_rule_can_be_read_back(words: list[str]) -> None:
    rules = rules_of_text(" ".join(words))
    assert [str(parse(rule.as_row())) for rule in rules] == list(map(str, rules))
    assert len(rules) <= proposals.MOST_RULES
