"""The automaton reads what hassil says a template stands for, and nothing else."""

from __future__ import annotations

from hassil.intents import SlotList, TextSlotList
from hassil.parse_expression import parse_sentence
from hassil.sample import sample_expression
import pytest

from custom_components.mimiclaw.fast_path.automaton import (
    START,
    Automaton,
    Builder,
    TemplateError,
    phrases,
)
from custom_components.mimiclaw.fast_path.normalise import Tokeniser

RULES = {
    "turn": parse_sentence("(turn|switch|put)"),
    "up": parse_sentence("[[right] back|straight]"),
    "loop": parse_sentence("again <loop>"),
}
TEMPLATES = (
    "<turn> <up> on [the] {name}",
    "<turn> {name} (on|off) [again]",
    "(please;[now]) stop {name}",
    "light[s] on in {name}",
    "[very] {name} un(lock|bolt)[ed]",
    "a (b [c] (d|e [f])|g) h",
)


def build(*templates: str, strict: bool = True) -> Automaton[int]:
    builder: Builder[int] = Builder(
        RULES, {"name"}.__contains__, Tokeniser(), strict=strict
    )
    for number, template in enumerate(templates):
        builder.add(parse_sentence(template), number)
    return builder.build()


def reads(automaton: Automaton[int], text: str) -> tuple[int, ...]:
    """The templates a text in which the name is "x" stands for."""
    state = START
    for word in text.split():
        following = automaton.edges[state].get("{name}" if word == "x" else word)
        if following is None:
            return ()
        state = following
    return automaton.accepts[state]


@pytest.mark.parametrize("number", range(len(TEMPLATES)))
def test_every_sample_is_read_as_its_template(number: int) -> None:
    automaton = build(*TEMPLATES)
    names: dict[str, SlotList] = {"name": TextSlotList.from_strings(["x"], name="name")}
    expression = parse_sentence(TEMPLATES[number]).expression
    samples = {
        " ".join(text.split()) for text in sample_expression(expression, names, RULES)
    }
    assert len(samples) > 1
    for text in samples:
        assert number in reads(automaton, text), text


@pytest.mark.parametrize("number", range(len(TEMPLATES)))
def test_a_sample_with_a_word_missing_or_changed_is_not(number: int) -> None:
    automaton = build(TEMPLATES[number])
    names: dict[str, SlotList] = {"name": TextSlotList.from_strings(["x"], name="name")}
    expression = parse_sentence(TEMPLATES[number]).expression
    samples = {
        " ".join(text.split()) for text in sample_expression(expression, names, RULES)
    }
    for text in samples:
        words = text.split()
        for place in range(len(words)):
            for changed in ([], ["other"]):
                other = " ".join([*words[:place], *changed, *words[place + 1 :]])
                assert (reads(automaton, other) != ()) is (other in samples), other


def test_templates_that_begin_alike_share_their_states() -> None:
    alone = len(build("turn on {name}").edges)
    assert len(build(*["turn on {name}"] * 50).edges) == alone
    many = build(*(f"turn on {{name}} in room {number}" for number in range(50)))
    assert len(many.edges[START]) == 1


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{name}", "no word"),
        ("[the] {name}", "no word"),
        ("go <missing>", "<missing>"),
        ("go {missing}", "{missing}"),
        ("<loop>", "without end"),
        ("(a;b;c;d;e) {name}", "permutation"),
    ],
)
def test_a_template_that_cannot_be_used_says_why(template: str, reason: str) -> None:
    with pytest.raises(TemplateError, match=reason):
        build(template)


def test_what_is_not_known_matches_nothing_where_others_sentences_are_read() -> None:
    automaton = build("go [to {missing}] {name}", strict=False)
    assert reads(automaton, "go x") == (0,)
    assert reads(automaton, "go to x") == ()


def test_phrases_are_written_out_but_not_without_bound() -> None:
    assert phrases(parse_sentence("a[n] (b|c)").expression, {}) == [
        "an b", "an c", "a b", "a c"
    ]  # fmt: skip
    with pytest.raises(TemplateError, match="more than"):
        phrases(parse_sentence(" ".join(["(a|b|c)"] * 12)).expression, {})
