"""How a draft is worded: a description that says what to do, in one line.

A sentence is only rewritten where its meaning stays: "why not X?", "could we X", "I want you to X" and "we should X"
ask for X. No word of negation is lost: a rewriting that would lose one is not made. A "no" that answers the agent is
none.
"""

import re
from collections import Counter
from typing import NamedTuple

from memtui.extract import phrases
from memtui.extract.phrases import compiled
from memtui.extract.vocabulary import NOUNS, VERBS

# Characters: the most of a description; the fewest that a clause keeps. A clause of more words may say what to do.
MAX_DESCRIPTION, LEAST_CLAUSE, LEAST_ORDER = 120, 35, 2
# Characters that are read of a sentence, and of its end for thanks.
MOST_READ, MOST_THANKS = 1000, 12
# How often a rewriting is tried: each step makes the text shorter.
STEPS = 12

# After such a word, a verb that can be a noun is one that is told to do.
_OBJECT = re.compile(
    r"^(?:a|an|about|of|over|through|under|against|between|into|one|two|three|new|more|some|the|this|that|these|those|it|them|all|any|every|each|both|only|more|less|no|not|my|our|your|its|their|to|for"
    r"|in|on|with|by|from|as|at|up|out|if|when|whether|how|what|where|why|before|after|instead|again|also|me|us|\d+"
    r"|[`\"'“(/~.\[].*|[\w-]*[A-Z_][\w-]*)$"
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|nowhere|neither|nor|without|avoid|cannot|dont|doesnt|isnt|wont|cant|\w+n't)\b"
)
_NOT = r"(?P<not>(?:not|never) )?"
_SOFT = (
    r"(?:(?:really|just|also|probably|maybe|perhaps|actually|definitely|please|simply|better|still|then|instead|now) )*"
)

# Lead-ins, without which the sentence says the same. A reason or an answer before the rule is one where it ends.
_ANSWER = compiled(
    rf"""^(?:(?:no|nope|nah)(?: no)*(?:(?:{phrases.AFTER})*(?:[,.!:;…—–]|-(?!-?\w))+
    |(?= (?:wait|please|i|we|you|don'?t|do not|that'?s|it'?s|let'?s|never|always)\b))|stop(?=[,.!])|wait)
    (?:[—–]|{phrases.AFTER})*"""
)
_LEAD_INS = (
    phrases.FILLER,
    _ANSWER,
    phrases.OPENERS,
    re.compile(r"^(?:[^\w\s\"'`“‘(\[</@#$.~*_-]+\s*)+"),  # pictures
    compiled(
        r"""^(?:u+h+|u+m+|e+h+|e+m+|a+r*g+h+|g+a+h+|l+o+l+|h+u+h|h+a+h+a*|[a-d](?=[).:])|q(?=[:.])|instead(?= ?,)
        |instead(?= (?:"""
        + "|".join(sorted(VERBS - NOUNS))
        + r""")\b))[\s,.…:;)!-]+"""
    ),
    compiled(
        r"""^(?:perfect|nice|good|excellent|awesome|alright|all right|amazing|fine|h+m+|m+h?m+|look|listen|again
        |first(?: of all)?|second(?:ly)?|third(?:ly)?|finally|lastly|one (?:more )?(?:thing|comment|question|note|idea)
        |(?:quick |another )?(?:question|suggestion|nit|note)|fyi|i see|i mean|to be clear|in addition|in that case
        |additionally|furthermore|moreover|alternatively|basically|honestly|in general|generally|my point is|exactly
        |understood|agreed|correct|true|much better|looks good|good (?:point|idea|catch)|got it|makes sense
        |that (?:makes|would make) sense|never ?mind)\s*[,.!:;…—–-]+\s+"""
    ),
    compiled(r"^(?:looks|sounds) (?:good|great|fine|nice|ok(?:ay)?),? but "),
    compiled(
        r"""^(?:maybe|perhaps|probably|additionally|alternatively
        |(?:and |but |so )?(?:i|we) (?:really |still |kind of |also )?
        (?:think|guess|believe|feel(?: like)?|suppose|suggest|propose|meant|mean)(?: that)?
        (?=,? (?:we|you|it'?s better|it is better|it would be|it'?d be|let'?s)\b)
        |(?:i(?:'m| am| was) (?:also |just |really )*)?(?:wondering|thinking|considering)(?: if| whether| that)?
        (?= (?:we|you) (?:can|could|should)\b)
        |(?:do|don'?t) you think (?:that )?(?=(?:it would be|it'?s) better\b))[\s,]*"""
    ),
    compiled(r"^(?:given|considering|based on|according to|looking at|speaking of|regarding)\b[^,.;:?!]{3,80}, "),
)


class _Rewriting(NamedTuple):
    """What is taken from the beginning, and what is put there; `known`: only if a verb of VERBS follows. A group `not`
    of the pattern says not."""

    pattern: re.Pattern[str]
    start: str = ""
    known: bool = True


# What the person wants to do themselves is not told to do.
_NOT_OWN = (
    r"(?!(?:review|approve|decide|know|see|read|check|understand|hear)\b|[^.!?]*\b(?:you|your|myself|ourselves)\b)"
)
_HOW = r"(?:really |explicitly |personally |generally |also |just |still )*"
_REWRITINGS = (
    _Rewriting(compiled(rf"^i (?:have )?(?:already )?{_HOW}(?:told|asked) you {_NOT}to "), known=False),
    _Rewriting(compiled(rf"^i (?:have )?(?:already )?{_HOW}said (?:you should )?{_NOT}to "), known=False),
    _Rewriting(
        compiled(rf"^i (?:have )?(?:already )?{_HOW}(?:said|told you)[,:]? (?=(?:don'?t|do not|never|always)\b)"),
        known=False,
    ),
    _Rewriting(compiled(rf"^i (?:have )?(?:already )?{_HOW}said[,:]? (?=\w)")),
    _Rewriting(compiled(rf"^i(?:'d| would)? {_HOW}(?:want|like|need|expect) (?:you|us) {_NOT}to {_SOFT}"), known=False),
    _Rewriting(compiled(rf"^(?:i|we)(?:'d| would)? {_HOW}(?:like|prefer) {_NOT}to {_SOFT}{_NOT_OWN}")),
    _Rewriting(compiled(rf"^i(?:'d| would) (?:much |really )?rather {_NOT}{_SOFT}{_NOT_OWN}")),
    _Rewriting(compiled(rf"^(?:i|we) {_HOW}(?P<not>don'?t|do not|never) want (?:you |us )?to {_SOFT}"), known=False),
    _Rewriting(
        compiled(
            rf"""^(?:i|we) {_HOW}(?:don'?t|do not) want[ ]
            (?!(?:that|this|it|you|us|them|me)\b|(?:\S+ ){{1,5}}to\b)(?:any )?(?=\w)"""
        ),
        "Avoid ",
        known=False,
    ),
    _Rewriting(
        compiled(rf"^(?:i|we)(?:'d| would)? {_HOW}(?:strongly |usually |always |much )*prefer (?!not\b|to\b)"),
        "Prefer ",
        known=False,
    ),
    _Rewriting(
        compiled(
            rf"""^(?:you|we) (?:really |also |probably |definitely |maybe )*
            (?:should|must|need to|ha(?:ve|d) (?:better|to)|ought to|might want to|may want to)(?P<not>n'?t| not)?[ ]
            {_SOFT}(?=\w)(?!(?:be|not|n't|have been|have \w+ed|necessarily|have to|need|probably)\b)"""
        ),
        known=False,
    ),
    _Rewriting(
        compiled(
            r"""^we (?P<not>never|don'?t|do not) (?=(?:use|allow|write|commit|store|push|merge|ship|mock|log|add|squash
            |rebase|hardcode|edit|touch|import|deploy)\b)"""
        ),
    ),
    _Rewriting(
        compiled(
            r"^we (?=(?:always|only) (?:use|allow|write|commit|store|push|merge|ship|mock|log|add|squash|rebase)\b)"
        ),
        known=False,
    ),
    _Rewriting(compiled(rf"^we (?:also |really |just |still )*want to {_SOFT}(?!(?:see|say|discuss|have|be)\b)")),
    _Rewriting(
        compiled(
            rf"""^(?:(?:is|are) there )?(?:any|an?|some) ?(?:chance|way|option)[ ]
            (?:that )?(?:to|(?:we|you) (?:can|could)) {_SOFT}"""
        )
    ),
    _Rewriting(
        compiled(rf"^i(?:'d| would) {_SOFT}(?!(?:say|think|guess|expect|assume|like|prefer|have|hope|need|want|see)\b)")
    ),
    _Rewriting(compiled(rf"^we c(?:an|ould) {_SOFT}(?!(?:see|say|discuss|talk|assume|have|be|get|tell)\b)")),
    _Rewriting(compiled(rf"^do(?:n'?t)? you think (?:we|you) (?:can|could|should) {_SOFT}")),
    _Rewriting(compiled(rf"^why (?:not|(?:don'?t|can'?t|couldn'?t|shouldn'?t) (?:we|you|i)) {_SOFT}")),
    _Rewriting(compiled(rf"^(?:can'?t|couldn'?t|shouldn'?t|won'?t) (?:we|you) {_SOFT}")),
    _Rewriting(
        compiled(
            rf"""^(?:can|could|would|will) (?:you|we) {_SOFT}{_NOT}{_SOFT}
            (?!(?:always )?(?:say|recommend|prefer|like|rather|be|see|think|trust|confirm|have)\b)"""
        )
    ),
    _Rewriting(compiled(rf"^let'?s {_SOFT}{_NOT}{_SOFT}(?=\w)(?!(?:see|say|hope|assume)\b)")),
    _Rewriting(
        compiled(
            rf"""^(?:(?:it'?s|it is|it would be|it'?d be|would be|wouldn'?t it be|isn'?t it|would it be) )?
            (?:probably |much |maybe )*(?:better|best|nicer|cleaner|easier|safer|simpler|preferable|nice|great|good)[ ]
            {_NOT}to {_SOFT}"""
        )
    ),
)
# What may stand before the verb of an order; those that make one of any word behind them but a person.
_MANNER = {"don't", "dont", "never", "always", "only", "first"}
_NOT_TO, _WHO = (
    {"don't", "dont", "never", "always"},
    {"we", "you", "i", "they", "it", "the", "a", "this", "that", "mind"},
)
# Rhetorical: their "not" asks for what follows.
_RHETORICAL = compiled(
    r"^(?:why (?:not|\w+n'?t)|(?:can|could|should|wo|would|is)n'?t (?:we|you|it)|don'?t you think)\b"
)
# After "not": "we should not only X" does not say not to.
_NOT_ALL = re.compile(r"^(?:only|just|necessarily|always|merely|be able|have to|need to)\b", re.IGNORECASE)
# An open question: what is asked about is not asked for.
_OPEN = re.compile(
    r"\bor (?:do|does|did|is|are|should|would|will|can|what|not|no|am|maybe)\b|\?.*\?|,? (?:right|yes|no|correct)\?$",
    re.IGNORECASE,
)
_ENDS = " .,;:!?—–-\"'"
_THANKS = compiled(r"(?:[\s,.;:!?—–-](?:please|pls|thanks?|thank you|thx)|[,.;:!?—–-]\s*ok(?:ay)?)$")
# Punctuation before a text, which the dot of a file name and the dashes of an option are not; a first word that is no
# literal.
_OPENING = re.compile(r"^(?:[\s,;:—]|-(?!-?\w)|\.(?!\w)|\.(?=\.))+")
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?(?=[\s,:;.!?)]*(?:\s|$))")
_CLAUSE_END = re.compile(
    r"[.;:!?](?=\s)|,(?=\s)|\s[—–-]+(?=\s)|\s(?=\()"
    r"|\s(?=(?:because|since|so that|which|where|such as|e\.g\.|i\.e\.|for example)\b)"
)
_DANGLING = re.compile(
    r"(?:[\s,;:(—–-]|\b(?:and|or|but|so|then|the|an?|to|of|in|on|for|with|that|as|is|are|if|when))+$", re.IGNORECASE
)


def negations(text: str) -> Counter[str]:
    """Count the words of negation of a text."""
    return Counter("n" for _ in _NEGATION.findall(text.lower().replace("’", "'")))


def describe(sentence: str) -> str:
    """Make a memory's description of a sentence: one line that says what to do where the sentence asks for that,
    without lead-ins, capitalized; a whole clause where all of it is too long."""
    return clause(_reworded(" ".join(sentence[:MOST_READ].replace("’", "'").split())), MAX_DESCRIPTION)


def _reworded(text: str) -> str:
    for _ in range(STEPS):
        shorter = _shorter(text)
        if shorter == text:
            break
        text = shorter
    text = _opened(_unpunctuated(text, " .,;:-—\"'"))
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text


def _shorter(text: str) -> str:
    """Return a text without one lead-in, or rewritten once; as it is if there is nothing to change."""
    for pattern in _LEAD_INS:
        rest = pattern.sub("", text, count=1)
        if rest != text and len(rest) > 3 and _keeps(pattern, text, rest):
            return rest
    question = text.rstrip("\"') ").endswith("?")
    for each in () if question and _OPEN.search(text) else _REWRITINGS:
        found = each.pattern.match(text)
        rest = _rewritten(text, each, found, question=question) if found else ""
        if rest:
            return rest
    rest = text if question else _closed(text)
    return rest if len(rest) > 3 else text


def _rewritten(text: str, each: _Rewriting, found: re.Match[str], *, question: bool) -> str:
    """Return a text as an order; empty if that could say something else."""
    rest = text[found.end() :]
    said = (found.groupdict().get("not") or "").strip().lower()
    if not rest or (each.known and not _begins_with_verb(rest)) or (said and _NOT_ALL.match(rest)):
        return ""
    order = each.start or ("Never " if said == "never" else "Don't " if said else "")
    order += _closed(rest) if question else rest
    return order if _RHETORICAL.match(text) or negations(order) == negations(text) else ""


def _closed(text: str) -> str:
    """Return a text without thanks at its end, and without the punctuation around them."""
    rest = _unpunctuated(text, _ENDS)
    thanks = _THANKS.search(rest[-MOST_THANKS:])
    return rest[: -len(thanks[0])].rstrip(_ENDS) if thanks else rest


def _unpunctuated(text: str, marks: str) -> str:
    """Return a text without the punctuation at its end, and without a quotation mark there that nothing opens."""
    rest = text.rstrip(marks)
    for mark in "\"'":
        quotes = rest.find(mark) > 0 and rest.count(mark) % 2 and (mark == '"' or f" {mark}" in rest)
        if mark in text[len(rest) :] and quotes:
            return rest + mark
    return rest


def _opened(text: str) -> str:
    """Return a text without the punctuation before it, and without a quotation mark there that nothing closes."""
    rest = _OPENING.sub("", text)
    return _opened(rest[1:]) if rest[:1] in {'"', "'"} and rest[0] not in rest[1:] else rest


def _keeps(pattern: re.Pattern[str], text: str, rest: str) -> bool:
    """Whether a lead-in may go: one that answers the agent, or has no word of negation."""
    answers = pattern in {_ANSWER, phrases.OPENERS} or _RHETORICAL.match(text) is not None
    return answers or negations(text) == negations(rest)


def _begins_with_verb(text: str) -> bool:
    words = re.findall(r"[\w-]+", text.lower()[:80])
    return any(word in VERBS for word in words[: 2 if words[:1] in (["first"], ["always"]) else 1])


def imperative(text: str) -> bool:
    """Whether a description begins with what to do, or not to do."""
    words = text.replace("’", "'").replace(",", " ").split()
    if text.rstrip().endswith("?") or not words:
        return False
    while words[0].lower() in _MANNER and len(words) > 1 and words[0].lower() + words[1].lower() != "donot":
        if words[0].lower() in _NOT_TO and words[1].lower() not in _WHO:
            return True
        words = words[1:]
    first = words[0].lower()
    if first not in VERBS:
        return False
    return first not in NOUNS or (len(words) > 1 and _OBJECT.match(words[1]) is not None)


def clause(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters: whole, else up to the end of a clause, else cut at a word with "…".
    A clause is not enough if what follows it says not."""
    if len(text) <= limit:
        return text
    for found in reversed(list(_CLAUSE_END.finditer(text[: limit + 1]))):
        head = undangled(text[: found.start()])
        if len(head) < LEAST_CLAUSE or head.count("(") > head.count(")"):
            continue
        if not negations(text[found.start() :]) and not head.count("`") % 2:
            return head
    return cut(text, limit)


def undangled(text: str) -> str:
    """Return a text without words at its end that need another, and without the punctuation around them."""
    return _DANGLING.sub("", text)


def cut(text: str, limit: int) -> str:
    """Return the beginning of a text, cut at a word, with "…" if it is longer."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return (head[: head.rfind(" ")] if " " in head[limit // 2 :] else head).rstrip() + "…"


def tail(text: str, limit: int) -> str:
    """Return the end of a text, cut at a word, with "…" if it is longer."""
    text = text.strip()
    if len(text) <= limit:
        return text
    end = text[-(limit - 1) :]
    return "…" + end[end.find(" ") + 1 :].lstrip() if " " in end[: limit // 2] else "…" + end


def order_of(text: str) -> str:
    """Return a description from the clause on that says what to do, if it does not begin with one and another does."""
    for end in () if imperative(text) else _CLAUSE_END.finditer(text):
        rest = _reworded(text[end.end() :].strip())
        if len(rest.split()) > LEAST_ORDER and imperative(rest):
            return rest
    return text
