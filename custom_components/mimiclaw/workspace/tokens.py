"""Words for the index. Writing without spaces is cut into grams of one and two characters."""

from __future__ import annotations

import re
import unicodedata

# Han, kana, Hangul, Thai, Lao, Khmer, Myanmar: one run of them holds several words.
_RUN = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    r"\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    r"\U00020000-\U000323af]+"
)
_RUNS = re.compile(_RUN)
_WORDS = re.compile(rf"{_RUN}|[^\W_]+")

# Words that stand everywhere and find nothing, and the forms in which questions come.
STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "s",
        "shall",
        "she",
        "should",
        "so",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "please",
        "tell",
        "about",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "ein",
        "eine",
        "einen",
        "einem",
        "einer",
        "und",
        "oder",
        "ist",
        "sind",
        "war",
        "im",
        "in",
        "am",
        "an",
        "auf",
        "zu",
        "zum",
        "zur",
        "mit",
        "von",
        "vom",
        "für",
        "wie",
        "was",
        "wo",
        "wer",
        "wann",
        "warum",
        "ich",
        "wir",
        "du",
        "ihr",
        "er",
        "sie",
        "es",
        "bitte",
    ]
)
_STOP_CHARS = frozenset(
    "的了在是我有和就不都一也很到说要去你会着没这那吗呢吧啊们里哪什么谁怎为为请把被给让の は が を に へ と も で か".replace(
        " ", ""
    )
)
_MOST_WORDS = 24


def for_index(text: str) -> str:
    """Return text whose words the index's own tokenizer finds, grams spelled out."""
    if text.isascii():
        return text
    return _RUNS.sub(_spelled, unicodedata.normalize("NFKC", text))


def words_of(text: str) -> list[str]:
    """Return the words and grams of a question, in order, each once.

    A run of one character is a gram of one; a longer run becomes its grams of two.
    """
    found: dict[str, None] = {}
    for word in _WORDS.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _RUNS.fullmatch(word) and len(word) > 1:
            for place in range(len(word) - 1):
                found[word[place : place + 2]] = None
        else:
            found[word] = None
    return list(found)


def useful(words: list[str]) -> list[str]:
    """Return the words that can tell one note from another; all of them when none can."""
    kept = [
        word for word in words if word not in STOP_WORDS and not _is_stop_gram(word)
    ]
    return (kept or words)[:_MOST_WORDS]


def single_grams(words: list[str]) -> list[str]:
    """Return the characters of the grams, without those that stand everywhere."""
    found: dict[str, None] = {}
    for word in words:
        if is_gram(word):
            for char in word:
                if char not in _STOP_CHARS:
                    found[char] = None
    return list(found)[:_MOST_WORDS]


def is_gram(word: str) -> bool:
    """Say whether a word is a gram of a writing without spaces."""
    return _RUNS.fullmatch(word) is not None


def _is_stop_gram(word: str) -> bool:
    return all(char in _STOP_CHARS for char in word) and is_gram(word)


def _spelled(match: re.Match[str]) -> str:
    run = match[0]
    pairs = [run[place : place + 2] for place in range(len(run) - 1)]
    return f" {' '.join(run)} {' '.join(pairs)} "
