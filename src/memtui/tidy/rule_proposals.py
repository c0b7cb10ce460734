"""Proposals to check the rules that memories' own words say: for the memories that are there, a worker makes them."""

from collections.abc import Iterator, Sequence

from memtui.base import clock_hot, paths_hot
from memtui.base.phrasing_hot import many
from memtui.rules import counts, proposal_evidence, proposals, rule_lines
from memtui.rules.proposal_evidence import ProposedRule
from memtui.rules.rule_hot import Rule, parse_all
from memtui.store import scopes
from memtui.store.memory import Memory
from memtui.store.plan import FileDiff
from memtui.store.store import Store
from memtui.tidy import changeset, waiting_proposals
from memtui.tidy.changeset import RULES, Proposal, ProposalEvidence

# Proposals that wait at a time; the seconds in which past sessions are read, of all projects and of one.
MOST, SECONDS = 10, 20.0


def propose(env: dict[str, str], cwd: str, now: float) -> list[Proposal]:
    """Propose rules for the trusted memories of a directory, broken ones first, and save them. Raises MemtuiError."""
    store = Store(env, cwd, by=changeset.BY, now=lambda: now)
    is_rejected = waiting_proposals.rejections(store.root)
    saved = [other for other in waiting_proposals.saved(store.root) if other.evidence]
    about_rules = [other for other in saved if other.evidence[0].code == RULES]
    waiting = {other.subject for other in about_rules if other.is_current and not is_rejected(other)}
    stated = [*_stated(store)]
    rows = [*_proposals(store, [row for row in stated if row[0].scope_label == "global"], "", now)]
    place = paths_hot.project_root(cwd)
    rows += _proposals(store, [row for row in stated if row[0].scope_label != "global"], place, now)
    best = [proposal for _, proposal in sorted(rows, key=lambda row: -row[0])]
    new = [proposal for proposal in best if proposal.subject not in waiting and not is_rejected(proposal)]
    new = new[: max(0, MOST - len(waiting))]
    if new:
        waiting_proposals.save(store.root, new, now)
    return new


def _stated(store: Store) -> Iterator[tuple[Memory, list[Rule]]]:
    for scope in store.scopes():
        is_open = scope.exists and scope.writable and not scope.problem and scope.kind != "instructions"
        for mem in scopes.memories(scope) if is_open else ():
            is_fit = mem.broken is None and mem.has_frontmatter and not any(parse_all(mem.fields))
            rules = proposals.rules_of_text(f"{mem.description}\n\n{mem.body}") if is_fit else []
            if rules and store.is_trusted(mem):
                yield mem, rules


def _proposals(
    store: Store, stated: Sequence[tuple[Memory, list[Rule]]], place: str, now: float
) -> Iterator[tuple[int, Proposal]]:
    """Yield the proposals for memories of a project, or global ones, with how often the rules of each were broken."""
    every = {rule.key(): rule for _, rules in stated for rule in rules}
    if not every:
        return
    transcripts = proposal_evidence.recent_transcripts(store.env, place, now, SECONDS)
    moments = counts.count_in(transcripts, every.values(), now - proposal_evidence.DAYS * clock_hot.DAY)
    for mem, rules in stated:
        if proposed := proposal_evidence.with_evidence(rules, moments, mem.mtime):
            yield sum(rule.broken for rule in proposed), _proposal(mem, proposed)


def _proposal(mem: Memory, proposed: Sequence[ProposedRule]) -> Proposal:
    words = [f"{rule.rule} (broken {rule.broken} of {many(rule.opportunities, 'time')})" for rule in proposed]
    reason = f"{'; '.join(words)} in the last {proposal_evidence.DAYS} days. Then memtui counts how often it is kept."
    data = rule_lines.with_rules(mem.raw, [rule.rule for rule in proposed])
    evidence = ProposalEvidence(RULES, texts=tuple(str(rule.rule) for rule in proposed), data={"path": mem.path})
    return changeset.propose("rewrite", [FileDiff(mem.path, mem.raw, data)], [evidence], reason)
