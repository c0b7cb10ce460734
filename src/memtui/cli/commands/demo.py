"""`memtui demo`: a sample world to try everything in, and a short tour of it."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from memtui.base.shell import shell_word
from memtui.cli import open_tui, parser
from memtui.cli.context import Context
from memtui.cli.output import Result, styled
from memtui.views.words import TABLES


@parser.command("demo")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.demo import content
    from memtui.demo import world as demo_world
    from memtui.hooks.install import installation as install

    directory = args.directory or tempfile.mkdtemp(prefix="memtui-demo-")
    # What starts memtui in the shell that this was started from, as its PATH may not have it.
    started = os.path.abspath(sys.argv[0]) if sys.argv and os.path.basename(sys.argv[0]) == "memtui" else ""
    started = started if shutil.which("memtui", path=ctx.env.get("PATH")) != started else ""
    if content.is_world(directory):
        world = content.layout(directory, ctx.now())
    else:
        world = demo_world.build(directory, ctx.now())
        path = install.settings_path(world.env, world.shop, "user")
        install.apply(install.plan(path, "install", env=world.env), by="demo")
    inside = Context({**ctx.env, **world.env}, ctx.out, world.shop)
    inside.project_given = False
    quoted = shell_word(world.directory)
    examples = [f"  {example:<32}{styled('# ' + why, 'dim')}" for example, why in TABLES["try"].items()]
    is_shell = open_tui.has_terminal() and not ctx.out.json
    if args.open or args.tour or is_shell:
        places = [os.path.dirname(started), ctx.env.get("PATH", os.defpath)]
        os.environ.update(world.env, PATH=":".join(filter(None, places)))  # for what is started from here
        os.chdir(world.shop)
        if args.open or args.tour:
            code, option = open_tui.run(inside, tour=args.tour).code, " --open"
        else:
            about = "This shell is in a sample world, as after some days of work. exit leaves it."
            ctx.out.print(styled(about, "bold"))
            ctx.out.exact("\n".join(examples))
            subprocess.run([ctx.env.get("SHELL") or "/bin/sh"], check=False)
            code, option = 0, ""
        what = "The sample world is still there. Open it again, or remove it when you are done:"
        ways = f"{what}\n  {shell_word(started or 'memtui')} demo{option} {quoted}\n  rm -r {quoted}"
        return Result({}, lambda out: out.exact(ways), code=code)
    lines = [f"  export {name}={shell_word(value)}" for name, value in world.env.items()]
    lines += [f"  export PATH={shell_word(os.path.dirname(started))}:$PATH"] if started else []
    lines += [f"  cd {shell_word(world.shop)}", "Then:", *examples, "", f"When you are done: rm -r {quoted}"]
    return Result(
        {"directory": world.directory, "env": world.env, "projects": [world.shop, world.blog]},
        "A sample world: two projects, shop and blog, as after some days of work.\n" * (args.directory is None),
        styled("Try it in a shell of its own: type these lines first, they lead into it:", "bold"),
        lambda out: out.exact("\n".join(lines)),
    )
