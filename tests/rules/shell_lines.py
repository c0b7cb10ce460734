"""Lines for a shell in which every command is reached, and what a real shell runs for them, as stubs on PATH log it."""

import os
import shutil
import subprocess
from random import Random

STUBS = ("npm", "pnpm", "git", "pytest", "rm", "make", "sed", "scripts/build.sh")
SUDO = "sudo"
# Real programs that run others; a stub of the same name logs them first.
REAL = ("env", "nice", "nohup", "timeout", "stdbuf", "xargs", "find", "sh", "bash")
NAMES = {*(os.path.basename(name) for name in STUBS), SUDO, *REAL}

LOG = "printf '%s\\037' \"${0##*/}\" \"$@\" '\036' >>@log\n"
RUN_OTHER = """while :; do case $1 in -u) shift 2;; --) shift; break;; -*) shift;; *) break;; esac; done
while :; do case $1 in [A-Z]=*) export "$1"; shift;; *) break;; esac; done
exec "$@"
"""
# Variables whose values are their own names, so that an expanded word is the word as it is written.
VARIABLES = {"v": "$v", "w": "${w}", "one1": "$one1"}
DRIVER = """trap '' PIPE
for case in @cases/*; do
  printf '\\035' >>@log
  line=$(cat "$case"; echo x)
  (eval "${line%x}"; wait) </dev/null >/dev/null 2>&1
done"""


class Lines:
    """Draws lines. `outputs`: substitutions as they are written, with what a shell puts in their place."""

    def __init__(self, seed):
        self.draw = Random(seed)
        self.number = 0
        self.outputs = []

    def line(self):
        self.outputs = []
        return self.draw.choice(["", "", "# npm 'x\n", "\n", " \t"]) + self.ended(self.several(3)) + self.comment()

    def comment(self):
        return self.draw.choice(["", "", " # git \"it's $(rm x) `", "\n# make (\n"])

    def several(self, depth):
        """A list of commands; one that ends with a line break has a heredoc."""
        text = self.command(depth)
        for _ in range(self.draw.choice([0, 0, 1, 1, 2])):
            apart = self.draw.choice(
                [
                    "; ",
                    " ; ",
                    "\n",
                    " ;\n\n\t",
                    " && ",
                    "&&",
                    " &&\n  ",
                    "OR",
                    " & wait; ",
                    " | ",
                    "|",
                    " |& ",
                    " # rm '\n",
                ]
            )
            if apart == "OR":
                text = f"! {self.unit(text)} || "
            elif text.endswith("\n"):
                text += "" if "&" not in apart and "|" not in apart else "true" + apart
            else:
                text += apart
            after = self.command(depth)
            text += f"{{ {self.ended(after)}}}" if "|" in apart and after.startswith(("time", "!", "set")) else after
        return text

    def unit(self, text):
        """A text that `!`, `&&` or `|` may stand beside."""
        return text if text.isalnum() else f"{{ {self.ended(text)}}}"

    def ended(self, text):
        return text if text.endswith("\n") else text + self.draw.choice(["; ", "\n", " ;"])

    def command(self, depth):
        kinds = [self.simple, self.simple, self.wrapped, self.wrapped, self.substituted, self.heredoc]
        if depth:
            kinds += [self.compound, self.compound, self.compound, self.script]
        return self.draw.choice(kinds)(depth - 1)

    def simple(self, depth):
        """A stub with assignments, words and redirections."""
        parts = [self.assignment() for _ in range(self.draw.choice([0, 0, 0, 1, 2]))]
        parts += [self.redirection()] * self.draw.choice([0] * 9 + [1])
        parts += [self.stub(), *self.words(self.draw.choice([0, 1, 1, 2, 3]))]
        parts += [self.redirection()] * self.draw.choice([0, 0, 0, 1])
        return self.draw.choice([" ", " ", "  ", " \t", " \\\n "]).join(parts)

    def stub(self):
        """A program, in some spelling, with a number that no other has."""
        name = self.draw.choice(STUBS)
        name = self.draw.choice([name, name, name, f"'{name}'", f'"{name}"', "\\" + name, name[:2] + "\\\n" + name[2:]])
        return f"{name} {self.unique()}"

    def unique(self):
        self.number += 1
        return f"n{self.number}"

    def words(self, count):
        return [self.word() for _ in range(count)]

    def word(self):
        pieces = [
            "w12", "--flag=x", "-n", "a/b.c", "x@y", "+%s", "a=b", "a#b", "{}", "x,y", "then", "fi", "done", "[", "]]", "%", "^",
            "'a b; npm x'", "'it'\\''s'", "'$(rm x)'", "'#'", "''", '""', '"x \\"y\\" \\$z \\\\ ; | & \' q `"'.replace("`", "\\`"),
            "$'a\\tb\\'c'", "$'\\x41\\101\\u00e9\\n\\\\'", '$"loc"', "a\\ b\\;c\\|d\\&e\\(", "\\#x", "\\'\\\"", "'\n'", '"a\\\nb"', '"\\z"',
            '"$v"', "${w}", '"a${w}b"', '"$one1"', '"$"', "~-x", "*.none", "x\\\ny", "é", "-m", '"then x"', "'<<EOF'", "x}", "{x", "if",
        ]  # fmt: skip
        if self.draw.random() < 0.15:
            return self.draw.choice([self.substitution(), self.substitution(), "$v", "$one1", "$"])
        return "".join(self.draw.choices(pieces, k=self.draw.choice([1, 1, 1, 2])))

    def assignment(self):
        return self.draw.choice(
            ["A=b", "B='x y'", 'C="$v"', "D=", "E+=x", "F=a\\ b", "G=$'\\n'", "H=$((1+(2)))", "I[0]=x"]
        )

    def redirection(self):
        targets = [
            ">/dev/null", "2>&1", "2>/dev/null", "> /dev/null", ">|out", ">>out", "<<<x", '<<< "npm x; y"', "&>/dev/null", "&>> out",
            "{fd}>/dev/null", "</dev/null", "3>&-", "<>out", ">&2", "1>&2", "4<&0",
        ]  # fmt: skip
        return self.draw.choice(targets)

    def substitution(self):
        """A word in quotes with a substitution that has an output."""
        raw, output = self.draw.choice([
            ("$(echo {0})", "{0}"), ("`echo {0}`", "{0}"), ("$(({1} + (1)))", "{2}"), ("${{none:-$(echo {0})}}", "{0}"), ("$( (echo {0}) )", "{0}"),
            ("$({3}; echo {0})", "{0}"), ("`{3}; echo {0}`", "{0}"), ("$(cat <<'E'\n{0} it's (\nE\n)", "{0} it's ("), ("$(( $({3}; echo {1}) + 1 ))", "{2}"),
            ("${{v#$({3})}}", "$v"), ("$(echo $({3}) {0} # )\n)", "{0}"), ("$(case x in x) echo {0};; esac)", "{0}"), ('${{v/\\"/`{3}`}}', "$v"),
        ])  # fmt: skip
        number = self.draw.randrange(100)
        texts = self.unique(), number, number + 1, f"{self.stub()} w"
        raw, output = raw.format(*texts), output.format(*texts)
        self.outputs.append((raw, output))
        return f'"{raw}"' if self.draw.random() < 0.7 else f"x\"a {raw}\"'y'"

    def substituted(self, depth):
        """Commands in substitutions, in the words of a command that is no stub."""
        inner = self.several(depth) if depth > 0 else self.simple(0)
        if "<<" in inner.replace("<<<", ""):  # bash itself stumbles over heredocs of longer lines in a substitution
            inner = self.simple(0)
        ways = [
            ": $({0})",
            'true "$({0})"',
            "x=$({0})",
            "cat <({0} true) >out",
            "cat < <({0} true) >out",
            "{{ true >({0} true); }} | cat >out",
            ': "${{none:-$({0})}}"',
            "a=(x $({0}) [5]=y)",
        ]
        ways += [
            ": $(( $({0} echo 1) + 2 ))",
            "for i in 1 $({0}); do break; done",
            "[[ -n x$({0}) ]]",
            "case $({0}) in *) ;; esac",
        ]
        inner = " " * inner.startswith("(") + inner
        way = self.draw.choice(ways)
        return way.format(inner if "{0}" + ")" in way and self.draw.random() < 0.5 else self.ended(inner))

    def heredoc(self, depth):
        inner, after = self.simple(0), self.simple(0)
        if "\n" in inner + after or '"' in inner or "\\" in inner:
            return self.simple(depth)
        begin, body, end = self.draw.choice([
            ("<<EOF", "$({0})\n`{1} x` 'npm \\$(rm x) \"$(true)", "EOF"), ("<<'EOF'", "$(rm x) `make`\nit's \"", "EOF"),
            ("<<-E", "\trm x $v ${{none:-$({0})}}", "\t\tE"), ('<< "A B"', "npm (", "A B"), ("<<\\E", "$(\n EOF", "E"), ("<<E <<F", "$({0})\nE\n)", "F"),
        ])  # fmt: skip
        rest = self.draw.choice(["", f" | {after}", f"; {after}", f" && {after}", f" >/dev/null; ( {after} )"])
        return f"true {begin}{rest}\n{body.format(inner, self.stub())}\n{end}\n"

    def wrapped(self, depth):
        """A stub behind wrappers, at most three."""
        text = f"{self.draw.choice(STUBS)} {self.unique()} {' '.join(self.words(self.draw.choice([0, 1, 2])))}"
        for _ in range(self.draw.choice([1, 1, 1, 2, 3])):
            way = self.draw.choice([
                "env {0}", "env A=b C='d e' {0}", "env -u X {0}", "env -uX -- A=b {0}", "env --unset=X {0}", "bin/../bin/env {0}", "env --unset X {0}",
                "sudo {0}", "sudo -u me {0}", "sudo -E -u me -- {0}", "sudo A=b {0}", "nice {0}", "nice -n 5 {0}", "nice -n5 {0}", "nice -5 {0}",
                "nice --adjustment 5 {0}", "nohup {0}", "timeout 9 {0}", "timeout -k 1 9 {0}", "timeout --signal=KILL 9s {0}", "timeout -s KILL 9 {0}",
                "stdbuf -oL {0}", "stdbuf -o L -e0 {0}", "command {0}", "( exec {0} )", "time {0}", "time -p {0}", "! ! {0}", "command -- {0}",
                "find '{{}}' -maxdepth 0 -exec {0} '{{}}' \\;", "find . -maxdepth 0 -execdir {0} ';'", "find '{{}}' -maxdepth 0 -exec {0} {{}} +",
                "echo '{{}}' | xargs -I {{}} {0} {{}}", "echo | xargs {0}", "echo '{{}}' | xargs -I{{}} -P2 {0}", "printf '' | xargs -0 -n1 -P3 {0}",
                "find '{{}}' -exec {0} \\; -exec rm {1} \\;",
            ])  # fmt: skip
            if (
                "(" in text
                or "|" in text
                or text.startswith(("time", "!", "command"))
                or ("xargs" in text + way and "{}" in text)
            ):
                break
            if way.startswith(("find", "echo", "printf")) and (
                "find" in text or "''" in text or ("{}" in text and ("execdir" in way or "+" in way))
            ):
                break
            text = way.format(text, self.unique())
        return text

    def script(self, depth):
        """A line for `sh -c` or `eval`, quoted in one way or the other."""
        line = self.simple(0)
        ways = (
            ["eval {0}", "( eval {0} )"]
            if self.outputs
            else [
                "bash -c {0}",
                "bash -euo pipefail -c {0} name arg",
                "bash -ec {0}",
                "eval {0}",
                "env A=b bash -c {0}",
            ]
        )
        if not self.outputs and self.draw.random() < 0.5:
            line = self.several(depth)
        if self.outputs:
            return line
        quoted = "'" + line.replace("'", "'\\''") + "'"
        ways += [
            f"sh -c 'git {self.unique()} && npm {self.unique()} \"a b\"'",
            f'bash -c "rm {self.unique()} \\"x y\\" $v"',
            f"eval make {self.unique()} '&&' rm {self.unique()}",
        ]
        ways += [
            f"env -S 'npm {self.unique()} \"a b\"'",
            f"env '--split-string=A=b npm {self.unique()}' x",
            f"printf '' | xargs sh -c 'make {self.unique()}'",
        ]
        return self.draw.choice(ways).format(quoted)

    def compound(self, depth):
        text, other = self.several(depth), self.several(depth)
        a, b = self.ended(text), self.ended(other)
        name = f"f{self.unique()}"
        ways = [
            f"( {text})", f"{{ {a}}}", f"if {a}then {b}fi", f"if ! {{ {a}}}; then :; else {b}fi",
            f"if ! {{ {a}}}; then :; elif {b}then true; fi", f"for i in 1; do {a}done", f"for ((i=0; i<1; i++)); do {a}done", f"while {a}do {b} break; done",
            f"until ! {{ {a}}}\ndo {b} break; done", f"case x in (y) false ;; x|z) {a} ;; esac", f"case x in\n  'x') {a} ;& y) {b}esac",
            f"case $v in y) ;; *) {a} ;; esac >/dev/null", f"{name}() {{ {a}}}", f"function {name} {{ {a}}}", f"{name} () ( {a})", f"{{ {name}() {{ {a}}}\n{name} x; }}",
            f"[[ ( -n $v && x =~ ^(x|y)$ ) || a < b ]] && {{ {a}}}", f"(( 1 << 2 )) && {{ {a}}}", f"if ( {a}) then ( {b}) fi", f"for i in a\ndo {a} break; done 2>&1",
            f"{{ {name}() {{ {a}}} >/dev/null; true | {name}; }}", f"while read -r x; do {a} done <<< x", f"! ! {{ {a}}} 2>/dev/null", f"{{ {a}}} | {{ {b}}}", f"set -- 1; for i do {a}done",
        ]  # fmt: skip
        return self.draw.choice(ways)


def log_calls(place, lines):
    """Run lines with stubs in place of programs, and return (name, words) of the calls of each."""
    stubs, log = place / "bin", place / "log"
    (stubs / "scripts").mkdir(parents=True)
    (place / "cases").mkdir()
    (place / "{}").touch()
    (place / "scripts").symlink_to(stubs / "scripts")
    for name in (*STUBS, SUDO, *REAL):
        real = f'exec {shutil.which(name)} "$@"\n' if name in REAL else RUN_OTHER * (name == SUDO)
        (stubs / name).write_text("#!/bin/sh\n" + LOG.replace("@log", str(log)) + real)
        (stubs / name).chmod(0o755)
    for number, line in enumerate(lines):
        (place / "cases" / f"{number:05}").write_text(line)
    env = {"PATH": f"{stubs}:{os.environ['PATH']}", "HOME": str(place), "LC_ALL": "C.UTF-8", **VARIABLES}
    driver = DRIVER.replace("@log", str(log)).replace("@cases", str(place / "cases"))
    subprocess.run(
        [shutil.which("bash"), "--norc", "-c", driver], cwd=place, env=env, check=False, stdin=subprocess.DEVNULL
    )
    return [
        [call.split("\037")[:-1] for call in part.split("\036\037")[:-1]] for part in log.read_text().split("\035")[1:]
    ]
