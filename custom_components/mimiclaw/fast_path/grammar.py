"""Everything the fast path knows, compiled: sentences by language, names by channel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hassil.expression import Sentence
from hassil.parser import ParseError

from .automaton import Automaton, Builder, TemplateError
from .channels import RELAYS, ChannelNames
from .errors import SentenceFileError
from .home_assistant import home_assistant_sentences
from .languages import SENTENCES, base_language, closest_language
from .lexicon import SKIP, Lexicon
from .names import NameIndex
from .normalise import Tokeniser
from .sentence_file import Block, SentenceFile, is_template, read_sentence_file

#: What a sentence of each intent asks for.
INTENTS: Final = frozenset(
    ("TurnOn", "TurnOff", "Open", "Close", "Toggle", "AllOn", "AllOff")
) | frozenset(("QueryState", "QueryValue", "Query"))
_DURATION: Final = "Duration"
_PLACE: Final = "Place"
#: Lists that are filled by the channels and by the chart.
_FILLED: Final = frozenset(("name", "area", "duration", "short_duration"))
#: Lists whose values stand for a number.
_NUMBERS: Final = frozenset(("number", "unit", "one_unit"))
#: Lists with a meaning of their own, which no template has to mention.
_SPECIAL: Final = (
    _NUMBERS
    | frozenset(("lead", "ask", "tail", "tail_if_asked", "join", "then", "all"))
    | frozenset(("reason_sign", "reason_never", "reason_link"))
    | frozenset(("reason_start", "reason_open", "reason_end", "reason_so"))
    | frozenset(("reason_verb",))
)
_QUESTION: Final = frozenset(("required", "forbidden", "allowed", "asked", "following"))


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a template stands for.

    `question`: whether a question mark is "required", "forbidden" unless the speaker
    asks politely, or "allowed"; "asked": only after "would you mind" and the like;
    "following": no question, and only after another command.
    """

    intent: str
    question: str


@dataclass(frozen=True, slots=True)
class LanguageGrammar:
    """One language: its sentences, and the names the channels have in it."""

    language: str
    sentences: Automaton[Meaning]
    durations: Automaton[dict[str, float]]
    places: Automaton[bool]
    lexicon: Lexicon
    everything: Lexicon
    number_words: dict[int, str]
    name_endings: tuple[str, ...]
    tokeniser: Tokeniser
    names: NameIndex
    areas: NameIndex
    relays: frozenset[int]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The languages of a household, in the order they are tried."""

    languages: dict[str, LanguageGrammar]
    channels: tuple[ChannelNames, ...]
    problems: tuple[SentenceFileError, ...]

    @classmethod
    def compile(
        cls,
        languages: Iterable[str],
        channels: Iterable[ChannelNames],
        extra_dir: Path | None = None,
    ) -> Grammar:
        """Read and compile the sentence files of `languages`. Blocking.

        A file in `extra_dir` adds to ours of the same name. A language nobody has
        sentences for is left out and noted in `problems`, as is every mistake in a file.
        """
        known = tuple(channels)
        compiled: dict[str, LanguageGrammar] = {}
        problems: list[SentenceFileError] = []
        for asked in languages:
            language = closest_language(asked)
            if language is None and _extra(asked, extra_dir):
                language = asked
            if language is None:
                problems.append(
                    SentenceFileError(f"{asked}.yaml", 0, "no sentences for it")
                )
                continue
            if language not in compiled:
                files = _files(language, extra_dir)
                compiled[language] = _compile(language, files, known)
                for file in files:
                    problems += file.problems
        return cls(compiled, known, tuple(problems))

    def with_channels(self, channels: Iterable[ChannelNames]) -> Grammar:
        """The same sentences with other channels. Fast, and reads no file."""
        known = tuple(channels)
        return replace(
            self,
            channels=known,
            languages={
                code: _with_names(grammar, known)
                for code, grammar in self.languages.items()
            },
        )


def _extra(language: str, extra_dir: Path | None) -> Path | None:
    """The household's own file for a language, if there is one."""
    path = extra_dir / f"{language}.yaml" if extra_dir else None
    return path if path is not None and path.is_file() else None


def _files(language: str, extra_dir: Path | None) -> list[SentenceFile]:
    """The sentence files of one language: the household's first, then ours."""
    own = SENTENCES / f"{language}.yaml"
    extra = _extra(language, extra_dir)
    files = [read_sentence_file(extra)] if extra else []
    if own.is_file():
        files.append(read_sentence_file(own))
    else:
        files.append(home_assistant_sentences(language))
    return files


def _compile(
    language: str, files: list[SentenceFile], channels: tuple[ChannelNames, ...]
) -> LanguageGrammar:
    rules = {name: rule for f in reversed(files) for name, rule in f.rules.items()}
    strict = (SENTENCES / f"{language}.yaml").is_file()
    tokeniser = Tokeniser(
        {k: v for f in files for k, v in f.respell.items()},
        {k: v for f in files for k, v in f.accented.items()},
        characters=not strict,
    )
    lexicon, lists = _lexicon(files, rules, tokeniser)

    def exists(name: str) -> bool:
        return name in _FILLED or name in lists

    sentences: Builder[Meaning] = Builder(rules, exists, tokeniser, strict=strict)
    durations: Builder[dict[str, float]] = Builder(
        rules, exists, tokeniser, strict=True
    )
    places: Builder[bool] = Builder(rules, exists, tokeniser, strict=True)
    for file in files:
        for block in file.blocks:
            for sentence, line in block.sentences:
                try:
                    _add(block, sentence, sentences, durations, places)
                except TemplateError as err:
                    file.problem(line, str(err))
    grammar = LanguageGrammar(
        language=language,
        sentences=sentences.build(),
        durations=durations.build(),
        places=places.build(),
        lexicon=lexicon,
        everything=_everything(files, rules, tokeniser),
        number_words=_number_words(files),
        name_endings=tuple(e for f in files for e in f.name_endings),
        tokeniser=tokeniser,
        names=NameIndex(),
        areas=NameIndex(),
        relays=frozenset(),
    )
    return _with_names(grammar, channels)


def _add(
    block: Block,
    sentence: Sentence,
    sentences: Builder[Meaning],
    durations: Builder[dict[str, float]],
    places: Builder[bool],
) -> None:
    """Add a template to what its intent says it is. Raises TemplateError."""
    if block.intent == _DURATION:
        durations.add(sentence, block.slots, bare=True)
    elif block.intent == _PLACE:
        places.add(sentence, True, bare=True)
    elif block.intent in INTENTS:
        asks = block.intent.startswith("Query")
        question = block.metadata.get("question", "allowed" if asks else "forbidden")
        if question not in _QUESTION:
            raise TemplateError(f"question: {question} is none of {sorted(_QUESTION)}")
        # A bare name is no command, but with a question mark it asks.
        bare = question == "required"
        sentences.add(sentence, Meaning(block.intent, question), bare=bare)
    else:
        raise TemplateError(f"there is no intent {block.intent}")


def _lexicon(
    files: Sequence[SentenceFile], rules: Mapping[str, Sentence], tokeniser: Tokeniser
) -> tuple[Lexicon, set[str]]:
    lexicon = Lexicon(tokeniser)
    lists = set(_SPECIAL)
    for file in files:
        for text in file.skip_words:
            try:
                lexicon.add(SKIP, text.text, "", rules)
            except (TemplateError, ParseError) as err:
                file.problem(text.line, str(err))
        for name, values in file.lists.items():
            lists.add(name)
            for value in values:
                try:
                    if name in _NUMBERS and not isinstance(value.out, float):
                        raise TemplateError(f"a value of {name} needs a number as out:")
                    lexicon.add(name, value.text.text, value.out, rules)
                except (TemplateError, ParseError) as err:
                    file.problem(value.text.line, str(err))
    return lexicon, lists


def _everything(
    files: Sequence[SentenceFile], rules: Mapping[str, Sentence], tokeniser: Tokeniser
) -> Lexicon:
    """The words for all channels alone: a sentence without them and names is no order."""
    lexicon = Lexicon(tokeniser)
    for file in files:
        for value in file.lists.get("all", ()):
            with suppress(TemplateError, ParseError):  # noted where all lists are read
                lexicon.add("all", value.text.text, value.out, rules)
    return lexicon


def _number_words(files: Sequence[SentenceFile]) -> dict[int, str]:
    """The first word for each whole number, to say "relay three"."""
    words: dict[int, str] = {}
    for file in files:
        for value in file.lists.get("number", ()):
            spoken = value.text.text
            if is_template(spoken) or not isinstance(value.out, float):
                continue
            if value.out.is_integer():
                words.setdefault(int(value.out), spoken)
    return words


def _with_names(
    grammar: LanguageGrammar, channels: Sequence[ChannelNames]
) -> LanguageGrammar:
    """The grammar with the channels' names in place."""
    endings = grammar.name_endings
    names, areas = NameIndex(endings), NameIndex(endings)
    for index, channel in enumerate(channels):
        for name in _names(channel, grammar.language):
            for tokens in _spellings(grammar.tokeniser.words(name), grammar):
                names.add(tokens, index)
        for area in (channel.area, channel.satellite):
            if area:
                areas.add(grammar.tokeniser.words(area), index)
    names.seal()
    areas.seal()
    relays = frozenset(i for i, c in enumerate(channels) if c.kind in RELAYS)
    return replace(grammar, names=names, areas=areas, relays=relays)


def _names(channel: ChannelNames, language: str) -> set[str]:
    """A channel's names in a language; if it has none there, all it has."""
    base = base_language(language)
    found = {
        name
        for code, names in channel.names.items()
        if code in ("", language) or base_language(code) == base == code
        for name in names
    }
    return found or {name for names in channel.names.values() for name in names}


def _spellings(tokens: list[str], grammar: LanguageGrammar) -> list[list[str]]:
    """A name, without its article, and with its number said in words."""
    spellings = [tokens]
    for symbol, _, end in grammar.lexicon.starting_at(tokens, 0) if tokens else ():
        if not symbol and end < len(tokens):
            spellings.append(tokens[end:])
    for spelling in list(spellings):
        words: list[str] = []
        for token in spelling:
            number = int(token) if token.isdigit() and len(token) < 3 else None
            if number in grammar.number_words:
                words += grammar.tokeniser.words(grammar.number_words[number])
            else:
                words.append(token)
        if words != spelling:
            spellings.append(words)
    return spellings
