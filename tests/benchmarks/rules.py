"""How fast rules are counted in transcripts of 60 days, and with how much memory; how long a turn's count takes.

python tests/benchmarks/rules.py [MEGABYTES] [RULES]

Makes that much (600) of transcripts in a temporary directory, with a count that is stopped on its way and goes on.
Prints megabytes a second of CPU time and of wall time, and the peak.
"""

import os
import random
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "src"), os.path.join(HERE, "..", "rules")]

from tool_talk import Talk  # noqa: E402
from transcripts import WORDS, peak  # noqa: E402

COMMANDS = (
    "git status",
    "cd app && npm install {0}",
    "pnpm add {0}",
    "git add -A && git commit -m \"$(cat <<'EOF'\n{0}: {0} {1}\n\nOne more line.\nEOF\n)\"",
    "pytest -q tests/test_{0}.py 2>&1 | tail -20",
    "grep -rn '{0}' src | head; sed -n 1,40p src/{1}.py",
    'for file in src/*.py; do wc -l "$file"; done | sort -n',
    "docker compose up -d && sleep 3 && curl -s localhost:8080/{0}",
)
RULES = (
    "never: {{command: 'npm * {0}'}}\n    instead: {{command: 'pnpm *'}}",
    "never: {{command: 'git push --force {0}'}}",
    "never: {{text: 'print({0}', path: 'src/**'}}",
    "always: {{command: 'pytest * {0}', before: {{command: 'git commit *'}}}}",
    "always: {{path: 'docs/{0}.md', with: {{path: 'src/**'}}}}",
)


def session(chance: random.Random, number: int, size: int, cwd: str) -> bytes:
    """A session of about so many bytes, with the shares of calls, and the sizes, of public transcripts."""
    talk, parts, written = Talk(f"session-{number}", cwd, time.time() - 86400 * chance.uniform(1, 59)), [], 0
    while written < size:
        one, two = chance.choice(WORDS), chance.choice(WORDS)
        prose = " ".join(chance.choices(WORDS, k=40))
        output = f'{prose}\n\t"{one}"\n' * chance.randint(2, 60)
        kind = chance.random()
        if kind < 0.05:
            talk.says(prose)
        elif kind < 0.3:
            talk.replies(prose)
        elif kind < 0.65:
            command = chance.choice(COMMANDS).format(one, two)
            talk.runs(command, error=chance.random() < 0.08, result={"stdout": output, "interrupted": False})
            talk.records[-1]["message"]["content"][0]["content"] = output
        elif kind < 0.8:
            fields = {"file_path": f"{cwd}/src/{one}.py", "old_string": prose, "new_string": f"{prose}\nprint({two})"}
            talk.calls("Edit", result={"originalFile": output, "filePath": fields["file_path"]}, **fields)
        else:
            talk.calls("Read", file_path=f"{cwd}/src/{one}.py", result={"file": {"content": output}})
            talk.records[-1]["message"]["content"][0]["content"] = output
        parts.append(talk.data())
        written += len(parts[-1])
        talk.records.clear()
    return b"".join(parts)


def main(megabytes: int, rules: int) -> None:
    from memtui.rules import counts, counts_update

    with tempfile.TemporaryDirectory() as top:
        env = {"HOME": top, "CLAUDE_CONFIG_DIR": f"{top}/c", "MEMTUI_HOME": f"{top}/m"}
        os.makedirs(f"{top}/repo/.git")
        os.makedirs(f"{top}/c/projects/p")
        os.makedirs(f"{top}/c/memory")
        for number in range(rules):
            rule = RULES[number % len(RULES)].format(WORDS[number % len(WORDS)])
            with open(f"{top}/c/memory/m{number}.md", "w", encoding="utf-8") as file:
                file.write(f"---\nname: m{number}\nrules:\n  - {rule}\n---\nx\n")
        if not os.fork():  # what making them takes is not measured
            chance, total, number = random.Random(7), 0, 0
            while total < megabytes * 1_000_000:
                data = session(chance, number, int(chance.expovariate(1 / 4_000_000)) + 20_000, f"{top}/repo")
                with open(f"{top}/c/projects/p/{number}.jsonl", "wb") as out:
                    out.write(data)
                total, number = total + len(data), number + 1
            os._exit(0)
        os.wait()
        begun, cpu = time.monotonic(), time.process_time()
        stopped = counts_update.update(env, go_on=lambda at: at.bytes < at.all_bytes / 2)
        print(f"stopped at {stopped.bytes / 1e6:.0f} of {stopped.all_bytes / 1e6:.0f} MB")
        done = counts_update.update(env)
        wall, cpu, size = time.monotonic() - begun, time.process_time() - cpu, done.all_bytes / 1e6
        print(
            f"{rules} rules: {size / cpu:.1f} MB a second of CPU, {size / wall:.1f} of wall time; peak {peak():.0f} MB"
        )
        begun = time.process_time()
        held = counts.held_by_path(env["MEMTUI_HOME"])
        print(
            f"read in {time.process_time() - begun:.2f} s:",
            sum(row.opportunities_before for rows in held.values() for row in rows),
        )
        size = os.path.getsize(env["MEMTUI_HOME"] + "/rules/counts.db")
        print(f"counts.db has {size / 1e6:.1f} MB")
        path = f"{top}/c/projects/p/0.jsonl"
        talk = Talk("session-0", f"{top}/repo")
        talk.count = 1_000_000
        talk.runs("npm ci")
        with open(path, "ab") as out:
            out.write(talk.data())
        begun, cpu = time.monotonic(), time.process_time()
        counts_update.update(env, [path])
        print(f"a turn: {1000 * (time.monotonic() - begun):.0f} ms, {1000 * (time.process_time() - cpu):.0f} of CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 600, int(sys.argv[2]) if len(sys.argv) > 2 else 20)
