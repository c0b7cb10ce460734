"""The terms of a text, of memories and prompts. A word is kept whole, and split where its case changes and at `_`, `.`,
`/`, `-` and `:`; all are folded and stemmed. Scripts without blanks give pairs of characters. None is left out, but
COMMON ones weigh less. Hot path: it imports nothing."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 3  # changes when the same text gives other terms: an index of another version is built anew
JOINERS = "_./-:"
LONGEST = 40  # longer words are hashes, keys and data
# Latin letters with accents, and below each the one without.
ACCENTED = (
    "àÀáÁâÂãÃäÄåÅāĀăĂąĄçÇćĆĉĈċĊčČďĎđĐèÈéÉêÊëËēĒĕĔėĖęĘěĚĝĜğĞġĠģĢìÌíÍîÎïÏĩĨīĪĭĬįĮıĺĹļĻľĽłŁñÑńŃņŅňŇòÒóÓôÔõÕö"
    "ÖøØōŌŏŎőŐŕŔŗŖřŘśŚŝŜşŞšŠșȘţŢťŤțȚùÙúÚûÛüÜũŨūŪŭŬůŮűŰųŲýÝÿŸźŹżŻžŽ"
)
PLAIN = (
    "aAaAaAaAaAaAaAaAaAcCcCcCcCcCdDdDeEeEeEeEeEeEeEeEeEgGgGgGgGiIiIiIiIiIiIiIiIilLlLlLlLnNnNnNnNoOoOoOoOo"
    "OoOoOoOoOrRrRrRsSsSsSsSsStTtTtTuUuUuUuUuUuUuUuUuUuUyYyYzZzZzZ"
)


class _Characters(dict):  # type: ignore[type-arg]
    """What each character becomes, for `str.translate`: a part of a word, a joiner, or a blank."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        mapped = code if char in JOINERS or ("a" + char).isidentifier() else 32
        self[code] = mapped
        return mapped


_CHARACTERS = _Characters()
_CHARACTERS.update(zip(map(ord, ACCENTED), map(ord, PLAIN), strict=True))
_CHARACTERS[ord("'")] = _CHARACTERS[ord("’")] = ord("'")


def terms(text: str) -> "list[str]":
    result: list[str] = []
    for word in text.translate(_CHARACTERS).split():
        cached = _known.get(word)
        if cached is None:
            cached = tuple(_of_word(word))
            if len(_known) < MOST_KNOWN:
                _known[word] = cached
        result += cached
    return result


MOST_KNOWN = 200_000  # terms of words seen before: a memory, or an index, has most words many times
_known: "dict[str, tuple[str, ...]]" = {}


def parts(word: str) -> "list[str]":
    """List the parts of a word from `folded` in lower case, not stemmed: split at joiners and where case changes."""
    return [part.lower() for piece in _pieces(word) for part in _by_case(piece)]


def _of_word(word: str) -> "Iterator[str]":
    """Yield the terms of what stands between two blanks."""
    word = word.strip(JOINERS + "'")
    if not word or len(word) > 4 * LONGEST:
        return
    if word.isascii() and word.isalpha() and (word.islower() or word[1:].islower() or word.isupper()):
        if len(word) <= LONGEST:
            yield stem(word.lower())
        return
    if not word.isascii() and any(char >= "\u0e00" for char in word):
        yield from _unspaced(word)
        return
    parts = [part for piece in _pieces(word) for part in _by_case(piece)]
    if len(parts) > 1 and len(word) <= LONGEST:
        yield word.lower()
    for part in parts:
        if len(part) <= LONGEST:
            yield stem(part.lower())


def _pieces(word: str) -> "list[str]":
    """Split at joiners and apostrophes; what English puts behind an apostrophe is left out."""
    for joiner in JOINERS:
        word = word.replace(joiner, " ")
    pieces = []
    for piece in word.split():
        first, apostrophe, rest = piece.partition("'")
        if not apostrophe:
            pieces.append(piece)
        elif rest.lower() in ENDINGS:
            pieces.append(first)
        else:
            pieces += [part for part in piece.split("'") if part]
    return [piece for piece in pieces if piece]


ENDINGS = ("s", "t", "re", "ve", "ll", "d", "m", "")


def _by_case(piece: str) -> "list[str]":
    """Split where the case changes: `parseHTTPHeader` gives parse, HTTP and Header."""
    if piece.islower() or piece.isupper() or piece.isdecimal():
        return [piece]
    pieces = []
    start = 0
    for at in range(1, len(piece)):
        here, before = piece[at], piece[at - 1]
        ends = here.isupper() and not before.isupper()
        begins = here.islower() and before.isupper() and at - 1 > start
        if ends or begins:
            cut = at if ends else at - 1
            pieces.append(piece[start:cut])
            start = cut
    pieces.append(piece[start:])
    return pieces


def _is_unspaced(char: str) -> bool:
    """Tell whether a character is of a script that puts no blanks between words."""
    return (
        "\u2e80" <= char <= "\u9fff"  # Chinese, Japanese
        or "\u0e00" <= char <= "\u0eff"  # Thai, Lao
        or "\u1000" <= char <= "\u109f"  # Burmese
        or "\u1780" <= char <= "\u17ff"  # Khmer
        or "\uac00" <= char <= "\ud7a3"  # Korean, where particles are glued to words
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
    )


def _unspaced(word: str) -> "Iterator[str]":
    """Yield the pairs of characters of runs in a script without blanks, and the terms of the other runs."""
    at = 0
    while at < len(word):
        kind = _is_unspaced(word[at])
        end = at + 1
        while end < len(word) and _is_unspaced(word[end]) == kind:
            end += 1
        run = word[at:end]
        if not kind:
            # Without such characters: what is left ends here.
            for piece in _pieces(run):
                for part in _by_case(piece):
                    if len(part) <= LONGEST:
                        yield stem(part.lower())
        elif len(run) == 1:
            yield run
        else:
            for start in range(len(run) - 1):
                yield run[start : start + 2]
        at = end


def stem(word: str) -> str:
    """Return a folded word without the commonest endings of English, so that its forms become one term."""
    if len(word) < 4 or not word.isascii():
        return word
    if word[-1] == "s":
        if word.endswith("ies") and len(word) > 4:
            word = word[:-3] + "y"
        elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
            word = word[:-2]
        elif word[-2] not in "us" and not word.endswith("is"):
            word = word[:-1]
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) > 2 and any(char in "aeiouy" for char in base):
            if base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            word = base
            break
    if len(word) > 4 and word[-1] == "e":
        word = word[:-1]
    return word


# Terms of words that say little by themselves, in the languages in which most prompts are written: English, German,
# Spanish, French, Portuguese, Japanese, Chinese. Among few memories they are rare by chance, and idf alone takes them
# for telling. They count COMMON_WEIGHT, the best of 0.0 to 1.0 for the sets of tests/benchmarks/recall.py.
COMMON_WEIGHT = 0.25
COMMON = frozenset(
    """
    a aber about after again al algo all alle als also am an and any are as at au auch auf aus aux avec avon be becaus
    been befor bei being bien bin bis bitt but by can ce ces cett com comm como con could cual cuando d da dan das
    dass de del dem den der des did die dir do doch doe doing don dond dos down du e ein eine einem einen einer el ela
    ele ella elle em en era ere es esa ese eso essa esse est esta estan este esto et etre eu fair fait faut favor foi
    for from fue fur get gibt going got ha habe haben hace hacer had has hat hav have hay he her here hier him his how
    i ich if ihr il ils im in into is isso ist it its j ja je jetzt just kann kannst kein konnen l la las le les let
    leur like lo los m ma mach machen mais mal man mas me mehr mein mes meu mi mich minha mir mis mit moi mon more
    most muss muy my n na nach nao nas ne need ni nicht no noch nos not nous now nun nur o ob oder of off ok on once
    one only ont or os other ou our out over own par para pas pela pelo pero peut pleas pls plus poner por porqu pour
    pourquoi pued puedo put qu quand quando que qui quiero s sa same san sao say schon se sea sein sem ser ses seu she
    should si sich sie sin sind so sobr soll sollen sollt solo some someth son sont still su sua such sur sus t ta
    take tambem tambien te tem tengo tes than thank that the their them then ther thes they thing this thos tien to
    todo toi ton too tout try tu uber um uma un una und under une uno uns unser until up us use very via voce vom von
    vor vous want warum was we well wenn wer werden were what when wher which whil who whol why wie wieder will wir
    wird with without wo would y ya yes yet yo you your zu zum zur
    """.split()  # noqa: SIM905 as one text it is loaded sooner
    # By themselves: a text of plain letters alone is split sooner.
    + """
    ある いま いる から きる くだ こと これ さい した して すか する それ たい ため ださ った って てい
    てく でき です では とか ない なる には のか ので ます ませ まで よう られ れる 一下 一个 不能 为什
    么的 什么 他们 但是 你们 可以 因为 如果 就是 帮我 怎么 我们 所以 时候 是不 没有 现在 的时 请帮 还是
    这个 那个
    """.split()  # noqa: SIM905
)
# Words with which people greet, thank and take leave, or have somebody go on.
SMALLTALK = frozenset(
    """
    abend afternoon ahead awesom bonjour bonsoir bueno buongiorno bye cheer ciao claud congrat cool dank day dia even
    everyon everyth feel fine friday friend geht glad good goodby gracia grazi great greet guten haha hallo happy
    hello heut hey heya hi hola howdy life lol lot lovely merci much moin monday morgen morn nice night obrigado okay
    ola perfect salut servus sorry sure tag thanx thx today tonight tschuss ty weekend welcom wow yeah yep
    continu continua continuar continuer go keep next proc prossiga siga sigu siguient step vielen
    weiter weitermachen
    続け けて 継続 继续 请继 续吧
    """.split()  # noqa: SIM905
)


def tells(text: str) -> bool:
    """Return whether a text has a word beside COMMON ones and SMALLTALK."""
    return any(term not in COMMON and term not in SMALLTALK for term in terms(text))


def folded(text: str) -> "list[str]":
    """List what stands between blanks in a text, without accents and punctuation, in the case that it has."""
    return text.translate(_CHARACTERS).split()
