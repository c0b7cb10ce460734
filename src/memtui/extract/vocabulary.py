"""Words by which drafts are worded and named (verbs of orders, what a name leaves out), and topics, of whose share in a
message the classifier judges."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a person tells an agent to do.
VERBS = _words(
    """abandon abort accept access adapt add address adjust align allow amend analyze annotate answer append
    apply approve archive ask assert assign assume attach avoid back base batch begin benchmark bind block
    brainstorm branch break bring build bump bundle cache call cancel capture care catch center change check
    choose cite clarify clean clear click clone close collapse collect combine come comment commit compact
    compare compile complete compress compute configure confirm connect consider consolidate consult continue
    convert copy correct count cover craft create cut deal debug decide declare decrypt default defer define
    delegate delete deploy derive describe design detect determine diff disable discard discuss display
    distinguish do document double double-check downgrade download draft draw drop dump duplicate edit elaborate
    embed emit empty enable encode encrypt end enforce enhance ensure enter escape evaluate examine exclude
    execute exit expand explain export expose extend extract fail fall fetch figure fill filter find finish fire
    fix flag flatten focus fold follow force forget fork format generate get give go group guard guess handle
    hardcode have help hide highlight hold host ignore implement import improve include increase indent index
    indicate inform init initialize inject inline insert inspect install instrument integrate introduce invent
    invert investigate invoke isolate join keep label leave let limit link lint list load lock log look lower
    maintain make manage map mark match measure mention merge migrate mimic mock modify monitor mount move name
    nest normalize note notify number offer omit open optimize order organize output override overwrite pack
    parse pass paste patch pause perform persist pick pin place plan point populate port post prefer prefill
    prefix prepare preserve prevent print prioritize proceed profile promote prompt propose protect provide
    prune publish pull push put query quote raise read rebase rebuild recheck recommend recompute record recover
    redact redirect redo reduce refactor refer reference reflect refresh regenerate register reject release
    reload rely remember remove rename render reorder repair replace reply report reproduce request require
    reread rerun research reset resolve respect respond restart restore restrict restructure resume retain
    rethink retry return reuse revert review revise rewind reword rework rewrite roll rotate round route run
    sanitize save say scan schedule scope scroll search select send separate serve set setup share ship shorten
    show sign signal simplify simulate skip solve sort spawn speak specify spell split squash stage standardize
    start stash state stay stick stop store stream strip stub submit suggest summarize support suppress surface
    swap switch sync tackle tag tail take talk tell test think throw tidy track transform translate traverse
    treat trigger trim trust try tune turn type unblock undo unify uninstall unpin untangle update upgrade
    upload use validate verify view visualize wait warn watch wire work wrap write"""
)

# Verbs that are as often nouns or adjectives: alone, they make no order of a sentence.
NOUNS = _words(
    """access address answer back base batch block branch break build cache call care center change check clear
    clone comment commit complete correct count cover deal default design diff display document double draft
    duplicate end exit export fail figure filter fix focus force fork format group guard help host import index
    init input insert label limit link lint list load lock log look map mark match merge mock monitor name note
    number offer open order output patch pause pin place plan point port post prefix profile prompt pull push
    query quote record reference release repair report request research return review roll round route scan
    schedule scope search set setup share sign signal sort split stage start state store stream stub support
    surface swap switch sync tag tail test track trigger type update upgrade upload view wait watch work"""
)

# Words that tell nothing in a name.
STOP_WORDS = _words(
    """a about actually again all also am an and any anything are as at be because been being both but by can
    could did do does doing done each either else etc even ever everything explicitly for from get gets
    getting given go going good got had has have having he her here his how however i if im in into is it its
    itself just know let lets like maybe me might mine more most much must my need needs now of off ok okay on
    one ones or other our out over own perhaps please possible probably quite rather really right said same
    say saying says see seems shall should simply since so some something still such sure than that the their
    them then there these they thing things think this those though through thus to too up upon us very via want
    wanted wants was way we well were what whatever when where whether which while who why will wish with within
    wondering would yes yet you your yours"""
)

# Those of them that tell least: where hardly another word is left, only these are left out.
FEW_STOP_WORDS = _words(
    """a am an and are as at be been but by did do does for from had has have i if in is it its me my of on or
    our so that the their them then there these they this to us was we were will with would you your"""
)

# Words on which no name ends.
OPEN_ENDED = _words(
    """above after against and around before behind below beside between during except instead never new no not
    only under unless until versus vs without"""
)

# What a message is about, or how it says it: the words of each topic. Rules that last are mostly about how work is done
# (tests, commits, agents, style), and speak of all cases; requests are mostly about this one.
TOPICS = {
    "version control": _words(
        """amend branch branches checkout commit commits committed committing git main master merge merged merges pr prs
        pull push pushed pushing rebase sha shas squash stash worktree worktrees"""
    ),
    "testing": _words(
        """assert assertion assertions asserts build ci coverage driven e2e fmt integration lint linter linting mock
        mocks pytest table tdd test tested testing tests unit"""
    ),
    "agents": _words(
        """agent agents claude context guideline guidelines haiku instruction instructions lsp mcp memory model models
        opus plan plans remember session sessions skill skills sonnet subagent subagents token tokens ultrathink"""
    ),
    "style": _words(
        """clean cleaner clear clearer clearly comment comments concise duplicate duplicated duplicates duplication
        emoji emojis format formatting language literal literally naming readable refactor short simple simpler
        simplify spelling style tone type types verbose"""
    ),
    "tracker": _words(
        """issue issues jira linear log milestone project replies reply respond review reviewed reviews roadmap ticket
        tickets"""
    ),
    "machine": _words(
        """access deploy deployed deploying deployment docker environment host hosts local localhost machine port ports
        production server servers ssh staging vm"""
    ),
    "documents": _words("adr agents changelog claude doc docs documentation readme spec specs"),
    "all cases": _words(
        """again all always any anything consistent consistently constantly default each every everything everywhere
        forward future going never only whenever wherever"""
    ),
    "norm": _words(
        """allowed avoid don't ensure have instead make must mustn't need needs not prefer rather should shouldn't
        supposed want"""
    ),
    "we": _words("let's lets our us we we're we've"),
    "you": _words("you you're you've your yourself"),
    "past": _words(
        """already chose chosen decided deliberate deliberately did didn't explicitly had intentional intentionally
        purpose removed was wasn't were"""
    ),
    "here": _words("here it that there these this those"),
}
