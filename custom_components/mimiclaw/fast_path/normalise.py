"""From what was said or typed to a list of tokens.

A token is a word, a number in digits, one character of a script that is written
without spaces, or one of four marks: "," a pause, "." an end, "?" a question, and NUL
for a character no command has (quotation marks, brackets, a colon), which nothing in a
grammar matches.
"""

from __future__ import annotations

from collections.abc import Mapping
import re
from typing import Final
import unicodedata

PAUSE: Final = ","
STOP: Final = "."
QUESTION: Final = "?"
FOREIGN: Final = "\x00"
SPACE: Final = " "
MARKS: Final = frozenset((PAUSE, STOP, QUESTION, FOREIGN, SPACE))

#: The longest spoken command heard in tests has 110 characters; text beyond this is
#: for the agent, and is not even looked at.
MAX_CHARS: Final = 240

#: Scripts whose words are not set apart by spaces: each character is a token.
_UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),
    (0x3041, 0x30FF),  # kana
    (0x3105, 0x312F),  # bopomofo
    (0x31F0, 0x31FF),
    (0x3400, 0x9FFF),  # Han
    (0xAC00, 0xD7AF),  # Hangul: particles hang on the word
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
_PAUSES: Final = frozenset(",;、،؛﹐﹑‚")
_STOPS: Final = frozenset(".!。｡।॥؟۔")
_QUESTIONS: Final = frozenset("?؟⸮")
_SILENT: Final = frozenset("¡¿~〜～・･\u0640՞՛՜")
_APOSTROPHES: Final = frozenset("'’‘ʼ´′`")
_DASHES: Final = frozenset("-‐‑‒–—―−")

_TOKEN = re.compile(
    r"[0-9]+(?:[.,][0-9]{1,2}(?![0-9]))?|[.,?\x00]| +|[^0-9.,?\x00\x1f ]+"
)
_ASCII_TOKEN = re.compile(r"[0-9]+(?:[.,][0-9]{1,2}(?![0-9]))?|[a-z]+|[^a-z0-9\s'`-]")
_ASCII_MARKS = {
    ",": PAUSE,
    ";": PAUSE,
    ".": STOP,
    "!": STOP,
    "?": QUESTION,
    "~": "",
} | {sign: sign for sign in "%&+"}
_THREE_DIGITS = re.compile(r"[0-9][.,][0-9]{3}")
_MINUS = re.compile(r"(?<!\S)-(?=[0-9])")
_SPACED_DASH = re.compile(r"\s[-–—]+\s|—")


def unspaced(token: str) -> bool:
    """Whether a token is one character of a script without spaces."""
    if len(token) != 1:
        return False
    code = ord(token)
    if code < _UNSPACED[0][0]:
        return False
    return any(low <= code <= high for low, high in _UNSPACED)


class _Table(dict[int, str]):
    """Character by character, what becomes of it. Filled as characters turn up."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        replacement = _replacement(char)
        if len(self) < _MAX_TABLE:
            self[code] = replacement
        return replacement


def _replacement(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.digit(char))
    if unspaced(char):
        return f"\x1f{char}\x1f"
    if char in _SILENT:
        return ""
    if char in _QUESTIONS:
        return QUESTION
    # The space keeps "1;5" from being read as one number.
    if char in _PAUSES:
        return PAUSE if char == PAUSE else f" {PAUSE}"
    if char in _STOPS:
        return STOP if char == STOP else f" {STOP}"
    if char in _APOSTROPHES or char in _DASHES or char.isspace():
        return " "
    if category[0] in "LN":
        return char
    if category[0] == "M":
        # Vowel signs of Indic and Arabic scripts belong to the word, Latin accents
        # and emoji selectors are dropped.
        dropped = "\u0300" <= char <= "\u036f" or "\ufe00" <= char <= "\ufe0f"
        return "" if dropped else char
    if category == "Cf" or (category == "Sk" and not char.isascii()):
        return ""
    if category == "So":
        return f" {PAUSE}"
    if char in "%&+":
        return f" {char} "
    return FOREIGN


#: More different characters than any household writes; text of noise stops here.
_MAX_TABLE: Final = 8192
_TABLE = _Table()


def fold(text: str) -> str:
    """One spelling for all: width, case, accents."""
    text = text.casefold()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in text if not "\u0300" <= c <= "\u036f")
    return unicodedata.normalize("NFC", text).casefold()


def _ascii_tokens(text: str) -> list[str]:
    """The tokens of folded ASCII text: the same as the long way gives, in half the time."""
    if "-" in text:
        text = _SPACED_DASH.sub(PAUSE, _MINUS.sub(FOREIGN, text))
    if _THREE_DIGITS.search(text):
        text += FOREIGN
    tokens = []
    for token in _ASCII_TOKEN.findall(text.replace("...", " ").replace("~", "")):
        if token[0].isalnum():
            tokens.append(token)
        else:
            tokens.append(_ASCII_MARKS.get(token, FOREIGN))
    while tokens and tokens[0] in (PAUSE, STOP):
        del tokens[0]
    return tokens


def tokenise(text: str) -> list[str]:
    """The tokens of a text, see the module's head.

    Works on text of any length in linear time; the router refuses long text before it
    comes here.
    """
    text = fold(text)
    if text.isascii():
        return _ascii_tokens(text)
    if "-" in text:
        text = _MINUS.sub(FOREIGN, text)
    text = _SPACED_DASH.sub(PAUSE, text)
    if _THREE_DIGITS.search(text):
        text += FOREIGN  # 1.500 is read differently from country to country
    text = text.replace("...", " ").translate(_TABLE)
    tokens: list[str] = []
    space = False
    for token in _TOKEN.findall(text):
        if token[0] == " ":
            space = True
            continue
        if space:
            space = False
            # A space counts beside a character that needs none, as a pause would.
            if tokens and unspaced(token) and tokens[-1] not in MARKS:
                tokens.append(SPACE)
        tokens.append(token)
    while tokens and tokens[0] in (PAUSE, STOP, SPACE):
        del tokens[0]
    return tokens


class Tokeniser:
    """`tokenise` with a language's own spelling in mind.

    `respell`: second spellings to undo after folding ("ae" for "ä"). `accented`: words
    that are another word once their accent is gone, with what to read for them
    ("apagué", I turned off, is no "apague", turn off). `characters`: every character is
    a token, for sentences that write endings on to names.
    """

    def __init__(
        self,
        respell: Mapping[str, str] | None = None,
        accented: Mapping[str, str] | None = None,
        *,
        characters: bool = False,
    ) -> None:
        self.characters = characters
        self._pairs = tuple((respell or {}).items())
        self._accented = dict(accented or {})
        words = "|".join(map(re.escape, self._accented))
        self._words = re.compile(rf"\b(?:{words})\b") if words else None

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text in this language."""
        return self.read(text, None)

    def read(self, text: str, tokens: list[str] | None) -> list[str]:
        """The same, given the tokens any language would see, if they are known."""
        if self._words is not None and not text.isascii():
            text = unicodedata.normalize("NFC", text.casefold())
            changed = self._words.sub(lambda word: self._accented[word[0]], text)
            if changed != text:
                tokens = tokenise(changed)
        if tokens is None:
            tokens = tokenise(text)
        if self.characters:
            return _characters(tokens)
        if not self._pairs:
            return tokens
        return [self._respelled(token) for token in tokens]

    def _respelled(self, token: str) -> str:
        for written, meant in self._pairs:
            if written in token:
                token = token.replace(written, meant)
        return token

    def words(self, text: str) -> list[str]:
        """The tokens without marks: for names and templates."""
        return [token for token in self(text) if token not in MARKS]


def _characters(tokens: list[str]) -> list[str]:
    """Words taken apart, with a space between."""
    result: list[str] = []
    for token in tokens:
        words = bool(result) and token not in MARKS and result[-1] not in MARKS
        if words and not (unspaced(token) and unspaced(result[-1])):
            result.append(SPACE)
        if token in MARKS or token[0].isdigit():
            result.append(token)
        else:
            result += token
    return result
