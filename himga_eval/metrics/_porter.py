"""The Porter stemmer, as ROUGE and METEOR use it: NLTK's variant, `PorterStemmer.NLTK_EXTENSIONS`.

Written from the rules of M. F. Porter, "An algorithm for suffix stripping", Program 14.3 (1980), and
the deviations NLTK documents. Importing NLTK for this alone costs more than stemming a whole run.
"""

from __future__ import annotations

from collections.abc import Iterable

from himga_eval.metrics._text import Memo

IRREGULAR = {
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}

# Suffix to replacement. Of two suffixes that fit, the longer one decides, also when its condition fails.
STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "fulli": "ful",
}
STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"),
    *("ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def _longest_first(suffixes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(suffixes, key=len, reverse=True))


_SUFFIXES_2, _SUFFIXES_3, _SUFFIXES_4 = map(_longest_first, (STEP_2, STEP_3, STEP_4))


def stem(word: str) -> str:
    """Return the Porter stem of a lower-case word."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":
        word = word[:-1] + "i"
    word = _double_suffix(word)
    word = _replaced(word, STEP_3, _SUFFIXES_3)
    word = _single_suffix(word)
    return _tidy(word)


class _Letters(dict[int, str]):
    """The class of a letter by code point: vowel, y, or else consonant."""

    def __missing__(self, letter: int) -> str:
        return "c"


_LETTERS = _Letters({ord(letter): "v" for letter in "aeiou"} | {ord("y"): "y"})


def _shape(word: str) -> str:
    """Write a word as c and v, a letter each; the shape of a prefix is the prefix of the shape."""
    shape = word.translate(_LETTERS)
    while (at := shape.find("y")) >= 0:  # a y after a consonant is a vowel
        shape = shape[:at] + ("v" if shape[at - 1 : at] == "c" else "c") + shape[at + 1 :]
    return shape


def _measure(shape: str) -> int:
    return shape.count("vc")


def _ends_cvc(word: str, shape: str) -> bool:
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _plural(word: str) -> str:
    if not word.endswith("s"):
        return word
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(_shape(word[:-3])) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            root = word.removesuffix(suffix)
            shape = _shape(root)
            return _ending_restored(root, shape) if "v" in shape else word
    return word


def _ending_restored(root: str, shape: str) -> str:
    """Undo what -ed and -ing did to the end of a word: hop from hopp, file from fil."""
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    # NLTK also takes the paper's sign for a double consonant, "*d", for letters of the word.
    if (root[-2:-1] == root[-1] and shape[-1] == "c") or root.endswith("*d"):
        return root if root[-1] in "lsz" else root[:-2] + root[-1]
    return root + "e" if _measure(shape) == 1 and _ends_cvc(root, shape) else root


def _double_suffix(word: str) -> str:
    while word.endswith("alli") and _measure(_shape(word[:-4])):
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(_shape(word[:-3])) else word
    return _replaced(word, STEP_2, _SUFFIXES_2)


def _replaced(word: str, rules: dict[str, str], suffixes: tuple[str, ...]) -> str:
    if not word.endswith(suffixes):
        return word
    suffix = next(filter(word.endswith, suffixes))
    root = word.removesuffix(suffix)
    return root + rules[suffix] if _measure(_shape(root)) else word


def _single_suffix(word: str) -> str:
    if not word.endswith(_SUFFIXES_4):
        return word
    suffix = next(filter(word.endswith, _SUFFIXES_4))
    root = word.removesuffix(suffix)
    fits = _measure(_shape(root)) > 1 and (suffix != "ion" or root[-1] in "st")
    return root if fits else word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        shape = _shape(word[:-1])
        measure = _measure(shape)
        if measure > 1 or (measure == 1 and not _ends_cvc(word[:-1], shape)):
            word = word[:-1]
    if word.endswith("ll") and _measure(_shape(word[:-1])) > 1:
        word = word[:-1]
    return word


STEMS = Memo(stem)
"""The stems of words seen before."""
