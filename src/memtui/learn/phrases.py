"""Phrases: patterns for the words with which a person corrects, confirms, or says how things shall be done from now on.

Patterns are matched against one sentence in lower case, with straight apostrophes and without opening fillers ("ok so",
"please"). A weight is the confidence that such a sentence gives a draft by itself. The patterns are few and strict on
purpose: a draft that nobody needs costs more trust than a missed one."""

import re

Weighted = tuple[tuple[float, re.Pattern[str]], ...]


def _all(*pairs: tuple[float, str]) -> Weighted:
    """Compile patterns with their weights. Those of one weight that begin with a word are searched at once, which takes
    a third of the time; each of their alternatives begins with one."""
    together: dict[tuple[float, bool | str], str] = {}
    for weight, pattern in pairs:
        is_word = pattern.startswith(r"\b")
        key = weight, is_word or pattern
        together[key] = f"{together[key]}|{pattern}" if key in together else pattern
    return tuple(
        (weight, compiled(rf"\b(?:{pattern})" if is_word is True else pattern))
        for (weight, is_word), pattern in together.items()
    )


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which a newline, and the indentation after it, is layout; case does not count."""
    return re.compile(re.sub(r"\n\s*", "", pattern), re.IGNORECASE)


# What stands between a lead-in and what it leads to; the dot of a file name and the dashes of an option are none of it.
AFTER = r"[\s,!:;…]|-(?!-\w)|\.(?!(?<=\s\.)\w)"

FILLER = compiled(
    r"""^(?:(?:ok(?:ay)?|and|also|so|but|hm+|well|yes|yeah|yep|yup|oh|ah+|btw|by the way|please|pls|hey|just|actually
    |wait|right|great|cool|sure|thanks|thank you|then|now|one more thing|claude)\b(?:"""
    + AFTER
    + ")*)+"
)
REFUSAL = compiled(
    r"""^(?:(?:no|nope|nah)\b(?: (?:wait|no)\b)?|stop(?=[,.!]))[\s,.!:;…-]*
    (?:(?:please|wait|but|just)\b[\s,.!:;…-]*)*"""
)
# Removed from the beginning of a description: the rule is what follows.
OPENERS = compiled(
    r"""^(?:from (?:now|here|this point) on(?:wards?)?|going forward|in (?:the )?future|as a (?:general )?rule
    |next time|for (?:all )?future reference|(?:please )?(?:always )?remember(?: that| to)?
    |(?:please )?(?:keep|have) in mind(?: that)?|(?:please )?(?:make a note|take note|note)(?: that)?|i want you to
    |please
    |you (?:should|must)(?= (?:always|never))
    |that'?s (?:wrong|incorrect|not (?:right|correct|it|what i (?:want(?:ed)?|meant|asked for)))(?=[:,;.!-])
    )\b(?:"""
    + AFTER
    + ")*"
)

# Verbs for what an agent does.
_VERB = (
    r"(?:use|run|add|ask|write|commit|push|check|test|make|keep|put|create|include|follow|prefer|avoid|do|start|stop|read"
    r"|verify|update|format|lint|name|explain|give|work|import|install|leave|document|review|rebase|squash|merge|sign"
    r"|deploy|mock|skip|touch|edit|delete|remove|change|modify|assume|guess|hard-?code|store|respond|answer|reply|speak"
    r"|say|try|wait|confirm|consult|look|be)"
)
# What an order begins with, as behind "always" and "never": any word but those that say how something is or was. Some
# are verbs in spite of their end.
_ORDER = (
    r"(?:(?:need|embed|feed|seed|proceed|exceed|speed|bring|ping|apply|reply|rely|supply|comply|multiply|alias|focus|bias"
    r"|canvas|debias)\b|(?!(?:\w+(?:ing|ed|ly)|\w*[^\Wsui]s|the|an?|this|that|these|those|its?|i|you|we|they|he|she|my|your"
    r"|our|their|been|seen|had|was|were|is|are|am|did|done|got|gone|heard|knew|known|thought|said|saw|went|came|made|took"
    r"|gave|found|felt|wrote|ran|in|on|at|for|from|with|by|of|to|and|or|but|not|so|too|as|if|when|one|more|less|here"
    r"|there|no|again|ever|mind|good|nice|great|happy|true|false|wrong|right|sure|same|will|would|can|could|should|shall"
    r"|may|might|must|know)\b)[a-z][a-z-]+\b)"
)
# With what a program does ("always show", "never return") a rule may be a requirement of the program, and no habit: it
# is one where it names the two who talk, or nothing that is at hand.
_OF_PROGRAM = (
    r"(?:show|return|display|render|load|open|close|redirect|fetch|print|output|throw|raise|trigger|hide|emit|play|fall"
    r"|fail|crash)"
)
_MOMENT = r"(?:commit|push|change|edit|release|pr|merge|deploy\w*)"

# A rule for the future, in words that say so.
STANDING = _all(
    (0.85, r"\bfrom (?:now|here|this point) on(?:wards?)?\b"),
    (0.85, r"\bgoing forward\b(?!.{0,20}\bwith (?:this|that|the)\b)"),
    (0.8, r"^as a (?:general )?rule\b"),
    (0.75, r"^(?:in|for|across) (?:all|every|any) (?:of )?my (?:projects?|repos?|repositor(?:y|ies))\b.{5,}"),
    (0.75, r"^always for me\b.{5,}"),
    (0.8, r"\bfor (?:all )?future (?:reference|sessions?|commits?|prs?|changes?|work|tasks?)\b"),
    (0.8, r"^in (?:the )?future,? (?:please |you |always |never |don't |do not |only |when )*" + _VERB + r"\b"),
    (0.75, r"^(?:the )?next time\b.{0,80}\b(?:you|please|don't|first|make sure|" + _VERB + r")\b"),
    (0.8, r"^(?:always|never(?: ever)?) (?!" + _OF_PROGRAM + r"\b)" + _ORDER),
    (0.8, r"^(?:always|never) " + _OF_PROGRAM + r"\b.*\b(?:you|your|me|us|we)\b"),
    (0.55, r"^(?:always|never) " + _OF_PROGRAM + r"\b(?!.*\b(?:the|this|that|these|its?|there|users?)\b)"),
    (0.8, r"^you (?:(?:should|must|need to|have to) (?:always|never)|can never)\b"),
    (0.8, r"[,;:—–-] (?:always|never) (?:use|run|commit|push|ask|write|add)\b"),
    (0.8, r"^(?:do not|don't|dont) (?:you )?ever\b"),
    (0.75, r"^make sure (?:to|you|that you) (?:always|never)\b"),
    (0.8, r"^(?:always )?remember(?:,|:| that| to (?!.{0,40}\b(?:after|later|when you'?re done)\b))"),
    (0.75, r"^(?:keep|have) in mind(?:,|:| that| (?:the|our|we|my|this|there|all)\b)"),
    (
        0.85,
        r"\b(?:add|save|put|store|write|note) (?:this|that|it)\b.{0,30}\b(?:to|in|into) (?:your |the )?memory\b",
    ),
    (
        0.7,
        r"""^stop (?:using|adding|doing|asking|writing|putting|being|making|creating|committing|saying|assuming|guessing
        |trying)\b""",
    ),
    (0.7, r"^(?:whenever|every time|each time) (?:you|we|i)\b.{8,}"),
    (0.7, r"(?:^|[,;:] )(?:do not|don't|never) .{3,80}\b(?:every time|each time)\b"),
    (0.65, r"^(?:before|after) (?:every|each|any) " + _MOMENT + r"\b.{6,}"),
    (0.65, r"^" + _VERB + r"\b.{3,80}\b(?:before|after) (?:every|each) " + _MOMENT + r"\b"),
    (
        0.8,
        r"""^(?:ab jetzt|ab sofort|in zukunft|künftig|à partir de maintenant|désormais|a partir de ahora
        |d'ora in poi)\b""",
    ),
    (0.75, r"(?:从现在开始|今后|以后(?:都|请|不要|一律)|请记住|記住|记住|これからは|今後は|覚えておいて|앞으로는)"),
)
# Not to do something at all, where nothing at hand is named: a rule if a message begins with it.
FORBIDDING = compiled(
    r"^(?:do not|don't|dont) (?!(?:worry|forget|bother|think|want|see|have|get|change|fix|wait|do|stop|go)\b)"
    + _ORDER
    + r"(?!.*\b(?:the|this|that|these|those|it|them|yet|now|here|there|any(?:more|thing)|again|my|your|his)\b).{4,90}$"
)
# What the person likes or the project does: a rule, but not said to be one.
PREFERENCE = _all(
    (
        0.65,
        r"""\bi(?:'d| would)? (?:really |personally |strongly |generally |usually |always |much )*prefer\b
        (?! (?:option|number|the (?:first|second|third|last|latter|former|other)|\d|that|this|it|your|[a-d])\b)""",
    ),
    (0.6, r"^i(?:'d| would) (?:much |really )?rather\b"),
    (
        0.65,
        r"""\b(?:i|we) (?:really |explicitly |personally |generally )*(?:don't|do not|never) (?:ever )?want\b
        (?! (?:that|this|it)\b\W*$)(?! to (?!have|see|use|store|keep|rely|depend|add|ship|merge))""",
    ),
    (0.6, r"^i (?:have )?(?:already )?(?:told|asked) you (?:not )?to .{6,}"),
    (
        0.55,
        r"""^(?:every|each|all) (?:prs?|commits?|tests?|functions?|changes?|releases?|branch(?:es)?|issues?)
         (?:needs?|must|should|ha(?:s|ve) to)\b""",
    ),
    (0.65, r"^i (?:really )?(?:hate|dislike|don't like|do not like) (?:it )?(?:when|that|how|having)\b"),
    (
        0.65,
        r"^we (?:explicitly |only |really )*(?:never|always|only) (?:use|allow|do|write|commit|store|push|merge)\b",
    ),
    (0.6, r"^we (?:don't|do not) (?:use|allow|write|commit|store|push|merge|ship|support)\b"),
    (0.6, r"^we use \S+.{0,50}\b(?:here|in this (?:repo|project|codebase)|instead|not|everywhere)\b"),
    (0.65, r"\b(?:our|the) (?:\w+ )?(?:convention|policy|house rule|rule) (?:is|here is)\b"),
    (0.65, r"\bi want you to (?:always|never|stop|use|ask|avoid)\b"),
    (0.6, r"^by default,? (?:use|do|don't|please|you|run|write|keep|make)\b"),
    (0.6, r"\buse (?:the )?[\w .'/-]{0,40}\b(?:convention|naming|style guide)s?\b"),
    (0.6, r"^(?:use|do|write|run|call|name) .{2,80}\b(?:instead of|rather than)\b"),
    (0.55, r"^use \S+(?: \S+){0,4},? (?:not|never) \S+"),
    (0.55, r"^i want .{3,120}(?:, not |\binstead of\b|\brather than\b)"),
    (0.55, r"\bi think (?:it'?s|it is|it would be) better (?:not )?to\b.{6,}"),
)
# A statement of the person about themselves.
PERSON = _all(
    (
        0.65,
        r"""^(?:i'm|i am|i work as) (?:an? |the )(?:[\w-]+ ){0,4}(?:developer|engineer|designer|scientist|student
        |researcher|maintainer|manager|beginner|analyst|architect|founder|teacher|writer|physicist|statistician)\b""",
    ),
    (0.7, r"^(?:my name is|call me|my pronouns are|my time ?zone is|my native language is)\b"),
    (0.7, r"^(?:i'm|i am) (?:colou?r-?blind|dyslexic|left-handed|deaf|hard of hearing)\b"),
    (0.6, r"^i(?:'m| am) (?:new to|not familiar with|an expert in|experienced (?:in|with)) \w+"),
)
# An objection to what the agent said or did.
OBJECTION = _all(
    (0.5, r"^(?:no|nope|nah)\b(?! (?:problem|worries|need|rush|idea|thanks|issue|longer|more|changes?|errors?|one)\b)"),
    (
        0.5,
        r"""^(?:that'?s|that is|this is|it'?s|it is) (?:wrong|incorrect
        |not (?:right|correct|what|how|quite|true|needed|necessary))\b""",
    ),
    (0.5, r"^(?:wrong|incorrect|not (?:quite|exactly|what i|like that|that one))\b"),
    (0.5, r"^i (?:already )?(?:said|asked|told you|meant|did not ask|didn't ask)\b"),
    (
        0.5,
        r"""^you (?:forgot|missed|ignored|misunderstood|broke|deleted|shouldn't|should not|should have|were supposed
        |keep)\b""",
    ),
    (0.5, r"\byou(?:'re| are|'ve been) (?:being |been )?(?:very|too|way too|overly) \w+\b|\bnoticed you\b"),
    (0.45, r"^why (?:did|would|are|do) you\b"),
    (0.5, r"^(?:undo|revert) (?:that|this|it|your)\b"),
    (0.5, r"^(?:(?:do not|don't|dont|never)\b(?! (?:worry|forget|bother|mind|know)\b)|stop [a-z]+ing\b)"),
    (0.45, r"^(?:we already have|there (?:is|are) already)\b"),
    (
        0.45,
        r"\b(?:isn't|is not|aren't) (?:relevant|needed|necessary|what i)\b|\bmakes? no sense\b|\bdoesn't make sense\b",
    ),
    (0.45, r"\b(?:better not to|not a good idea|bad idea)\b"),
    (0.45, r"^instead\b"),
)
# A counter-proposal in the form of a question; counts only right after the agent did something.
COUNTER = compiled(
    r"""^(?:why not|why don't (?:we|you)|can't (?:we|you)|couldn't (?:we|you)|shouldn't (?:we|you|it|this)
    |should we (?:be|not)|wouldn't it|isn't there|can you use|is there (?:an)?other way)\b"""
)
DIRECTIVE = compiled(
    r"""\b(?:use|should|must|instead|don't|do not|never|always|only|need(?:s)? to|ha(?:s|ve) to|prefer|want
    |rather than)\b"""
)
FAILURE = compiled(
    r"""\b(?:fails?|failing|failed|broken|breaks|doesn't work|does not work|not working|is red|errors? out
    |won't (?:build|compile))\b"""
)
# With such a beginning, a sentence tells what would fail, and reports no failure.
SUPPOSES = compiled(r"^(?:otherwise|or else|if|when(?:ever)?|because|since|so that|unless)\b")
CLAIM = compiled(
    r"""\b(?:done|fixed|pass(?:es|ed|ing)?|works?|working|completed?|green|resolved|successful(?:ly)?
    |all (?:set|good))\b|✅"""
)
# A command that the person names as a check: of a tool that checks, in quotes with arguments; after "run"; or by
# itself, where the sentence says that it failed.
_TOOL = (
    r"(?:npm|npx|pnpm|yarn|bunx?|mise|uvx?|just|make|cargo|go|python3?|pytest|tox|nox|ruff|mypy|tsc|eslint|jest|vitest|mvn"
    r"|gradlew?|\./[\w./-]+|docker|bundle|rake|rspec|mix|dotnet|swift|bazel|composer|phpunit|node|deno|golangci-lint"
    r"|pre-commit|poetry|hatch|pdm|ctest|cmake|ninja|turbo|nx|playwright|cypress|terraform|helm|bash|sh)"
)
_CHECK = (
    r"(?:(?:npm|pnpm|yarn|bun|mise|uv|just|poetry|golangci-lint) run(?: [\w:.-]*[\w-])?"
    r"|(?:npm|pnpm|yarn|bun|cargo|go|make|mise|just|ruff) "
    r"(?:test|check|lint|vet|clippy|typecheck|build|fmt|ci:)[\w:.-]*"
    r"|(?:pytest|mypy|tsc|eslint|tox)(?= (?:is|still|now|fails?|failed|breaks?|errors?)\b))"
)
COMMAND = re.compile(
    r"[`\"'](?P<quoted>" + _TOOL + r"(?: [\w./:=@-]+){1,5})[`\"']"
    r"|^run (?P<told>" + _CHECK + r")"
    r"|(?:^|(?<=[\s,;:(]))(?P<bare>" + _CHECK + r")(?![\w-])",
    re.IGNORECASE | re.MULTILINE,
)
PRAISE = _all(
    (
        0.6,
        r"""(?:^|[,.!] )(?:keep (?:doing|writing|using|it (?:like|this way))
        |i (?:really )?(?:like|love) (?:how you|the way you|that you))\b""",
    ),
    (
        0.45,
        r"\b(?:exactly (?:right|what i|how i|like that)|that'?s exactly|much better|good (?:call|idea|approach))\b",
    ),
    (
        0.45,
        r"^(?:perfect|excellent|awesome|brilliant|exactly|great|nice|beautiful|love it|looks (?:good|great)|lgtm)\b",
    ),
    (0.45, r"\bi agree with\b|\bis better\b(?!.*\b(?:if|than)\b)"),
    (
        0.25,
        r"""^(?:yes|yep|yup|yeah|sure|ok(?:ay)?,? (?:do|go|let's)|go ahead|go for|do it|sounds good|post it|proceed
        |confirmed|approved|ship it|agreed|correct)\b""",
    ),
)
# A report of what was or happened, not of what shall be.
PAST = compiled(
    r"""^(?:i|we|you|it|he|she|they|this|that|there)
    (?:'ve|'d| have| has| had| was| were| did| didn't| just| also| already)*
    (?: been| was| were| did| got| ran| saw| see| found| thought| made|'ve \w+ed| have \w+ed| \w+ed)\b"""
)
# With what a person lets an interrupted agent go on: that is no new instruction.
GO_ON = compiled(
    r"^(?:continue|go|proceed|resume|keep going|carry on|try again|retry|wait|hold|start|commit|push|tell)\b"
)
# A fact that is to be kept in mind.
FACT = compiled(
    r"""^(?:(?:always )?remember(?:,|:| that)|(?:keep|have) in mind(?:,|:| that)?|note(?:,|:| that)|take note(?: that)?
    |fyi[,:]?|for (?:all )?future reference[,:]?|be aware(?: that)?|(?:please )?be advised(?: that)?)(?= )"""
)
# With such a word, a fact is a rule.
NORM = compiled(r"\b(?:should|must|need(?:s)? to|ha(?:s|ve) to|don't|do not|never|always|prefer|want)\b")
# Where something is to be found.
PLACE = compiled(
    r"""\b(?:docs?|documentation|guides?|handbook|spec(?:ification)?s?|wiki|dashboards?|boards?|tickets?|issues|tracker
    |references?|designs?|runbooks?|roadmap|backlog|changelog|schema|logs?|repo(?:sitory)?|api)\b.{0,60}
    \b(?:is|are|lives?|sits?|found|hosted|kept|tracked|published|at|here)\b.{0,40}https?://"""
)
# Limited to this moment: no lasting rule.
LOCAL = compiled(
    r"""\b(?:for now|right now|this time|today|yet|at the moment|just this once|until|tomorrow
    |for this (?:pr|one|task|commit|change|branch|session)|in this (?:pr|commit|branch|session)|this (?:pr|commit)
    |first then|the first)\b"""
)
GLOBAL = compiled(
    r"""\b(?:(?:in|for|across) (?:all|every|any|each)(?: of)?(?: my| our| the)? (?:projects?|repos?|repositor(?:y|ies)
    |codebases?)\b|(?:everywhere|globally)\b|regardless of (?:the )?(?:project|repo)
    |no matter (?:which|what) (?:project|repo)|always for me\b|in allen? (?:meinen )?projekten?\b)|所有项目"""
)
OWN_MISTAKE = compiled(
    r"\b(?:my bad|my mistake|my fault|i messed up|oops|whoops|i (?:accidentally|forgot)|sorry,? i)\b"
)
NOT_A_RULE = compiled(
    r"""^(?:do you remember|i remember|remember when|remember the time|never ?mind|don't worry|don't know
    |i (?:don't|do not) (?:know|think|understand|see|care|mind|get|believe|remember))\b
    |\b(?:do you|did you|if (?:you|we|i)) (?:always|never|prefer)\b"""
)
SENTENCE_END = re.compile(r"(?<=[.!?…。！？])(?:[\"')]*\s[\s\"')]*|[\"')]+$)|(?<=[。！？])[\"')]*|\n+")
# The only form of question that asks for a habit.
REQUEST = compiled(r"^(?:can|could|would|will) you\b|\bplease\b")
# What a program, not a person, puts to the agent; data below which a person writes something is a paste.
MACHINE = compiled(
    r"""^(?:you are (?:an? |the |now )|summari[sz]e (?:this|the) |#+ |your task is|<|act as |context: |task: |system:
    |base directory|\{(?![\s\S]*[}\]][ \t]*\n\s*[^\s{}\[\]",]))"""
)
