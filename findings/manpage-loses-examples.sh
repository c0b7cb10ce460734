#!/usr/bin/env bash
# argparse-manpage 4.8 makes a page without what stands at the end of a command's help (its epilog, where examples go),
# though it prints the epilog of the program. A line of a description that begins with a full stop, such as a file name,
# goes into the page as it is: groff takes it for a request, and a reader doesn't see it. Needs groff; takes half a minute.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
command -v groff >/dev/null || { echo "groff is missing"; exit 1; }
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check argparse-manpage==4.8
cat >"$dir/tool.py" <<'PY'
import argparse


def build():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="tool", description="Copies notes.", epilog="More is in the handbook.")
    commands = parser.add_subparsers(metavar="COMMAND")
    text = "Copies the notes of a folder. It also copies\n.notes and .drafts\nand nothing else."
    commands.add_parser("copy", description=text, epilog="example: tool copy monday", formatter_class=raw)
    return parser
PY
cd "$dir"
venv/bin/argparse-manpage --pyfile tool.py --function build --format pretty --project-name tool >tool.1
venv/bin/python -c 'import tool; tool.build().parse_args(["copy", "--help"])' >help
groff -man -Tascii -P-c tool.1 2>/dev/null >page
venv/bin/pip list 2>/dev/null | grep -i argparse
status=0
expect() { # NAME WANTED FILE TEXT
  seen=absent
  ! grep -qF -- "$4" "$3" || seen=present
  echo "$1: $seen in $3"
  [ "$seen" = "$2" ] || { echo "  was $2"; status=1; }
}
expect "epilog of the program" present page "More is in the handbook."
expect "epilog of a command" present help "example: tool copy monday"
expect "epilog of a command" absent page "example: tool copy monday"
expect "line that begins with a full stop" present help ".notes and .drafts"
expect "line that begins with a full stop" absent page "and .drafts"
expect "the line after it" present page "and nothing else."
exit "$status"
