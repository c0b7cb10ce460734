"""Memories that somebody else wrote, as `memtui inbox` lists them and `inbox` shows one."""

from memtui.cli.context import Context
from memtui.cli.output import Output, Result, cut, line, safe
from memtui.cli.show import diff
from memtui.core.base.errors import NotFoundError
from memtui.core.base.phrasing import age, ago, many
from memtui.core.base.shell import shell_word
from memtui.core.memories.writers import Occasions
from memtui.core.review import changed
from memtui.core.review.changed import Changed
from memtui.present import changed as words
from memtui.present import versions as version_words

COMMANDS = ("see one: memtui inbox NAME", "decide: memtui approve NAME or reject NAME")
# Lines of the difference that a list shows.
LINES_SHOWN = 6
INDENT = " " * 6


def as_data(ctx: Context, item: Changed, occasions: Occasions) -> "dict[str, object]":
    """Return one for --json."""
    occasion = occasions.of(item.writer)
    return {
        "name": item.name,
        "scope": item.scope.label,
        "path": item.key,
        "change": item.kind,
        "by": item.writer.by,
        "session": item.writer.session or None,
        "title": occasion.title or None,
        "prompt": item.writer.prompt or None,
        "prompt_text": occasion.prompt or None,
        "time": item.now.time,
        "diff": "\n".join(_diff(ctx, item)),
    }


def _diff(ctx: Context, item: Changed) -> "list[str]":
    try:
        return diff.lines(*changed.texts(ctx.versions, item))
    except NotFoundError as error:
        return [f"@ {error.message}"]


def print_all(ctx: Context, out: Output, items: "list[Changed]", more: int) -> None:
    """Print a section of the inbox: each with its writer, and the beginning of its difference."""
    occasions = Occasions(ctx.env)
    out.section()
    out.beside(out.style("Changed", "bold") + "  ", 9, (f"{len(items) + more}", *COMMANDS), "dim")
    for item in items:
        when = age(item.now.written, ctx.now())
        did = words.by(item, occasions.of(item.writer).title)
        out.beside(f"  {when:>4}  ", 8, [out.style(line(item.ref), "cyan"), line(did)], "")
        every = _without_fields([safe(each) for each in _diff(ctx, item) if not each.startswith("@@")])
        lines = every if len(every) <= LINES_SHOWN + 1 else every[:LINES_SHOWN]  # a mark takes a line, too
        if out.columns is not None:
            lines = [cut(each, out.columns - len(INDENT)) for each in lines]
        diff.show_lines(out, lines, INDENT)
        if len(every) > len(lines):
            rest = f"… {many(len(every) - len(lines), 'more line')}: memtui inbox {shell_word(item.ref)}"
            out.print(INDENT + out.style(rest, "dim"))
    if more:
        out.print(f"  and {more:,} more: memtui inbox --kind changed --limit 0")


def _without_fields(lines: "list[str]") -> "list[str]":
    """Return the difference of a memory that is new or gone without its fields, but with its description: they would
    be all that a list shows of it."""
    sign = lines[0][:1] if lines else ""
    rule = sign + "---"
    if rule not in lines[:1] or rule not in lines[1:] or any(each[:1] != sign for each in lines):
        return lines
    end = lines.index(rule, 1)
    return [each for each in lines[1:end] if each.startswith(sign + "description:")] + lines[end + 1 :]


def whole(ctx: Context, item: Changed) -> Result:
    """Show one: who wrote it and when, after which prompt, and what changed."""
    occasions = Occasions(ctx.env)

    def text(out: Output) -> None:
        occasion = occasions.of(item.writer)
        out.heading(line(item.ref), ago(item.now.written, ctx.now()))
        facts = [words.by(item, occasion.title), version_words.prompted(occasion.prompt), ctx.tilde(item.key)]
        for fact in filter(None, facts):
            out.print("  " + out.style(line(fact), "dim"))
        out.print()
        diff.show_lines(out, _diff(ctx, item), "  ")
        out.say(
            f"memtui approve {shell_word(item.ref)} marks it as seen, memtui reject {shell_word(item.ref)} undoes it."
        )

    return Result(as_data(ctx, item, occasions), text)
