"""Markdown, as a model writes it, turned into what Telegram shows.

The telegram_bot integration takes text with a parse mode, not entities, so the entities
are written as Telegram's HTML: only three characters need an escape there, where its
Markdown loses a message over a stray underscore.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
import logging
import re
from typing import TYPE_CHECKING, Final

from .limits import MESSAGE_UNITS
from .splitting import Formatted, Span, split

if TYPE_CHECKING:
    from telegramify_markdown import MessageEntity, RenderConfig

_LOGGER = logging.getLogger(__name__)

_TAGS: Final = {
    "bold": "b",
    "italic": "i",
    "underline": "u",
    "strikethrough": "s",
    "spoiler": "tg-spoiler",
    "code": "code",
}
_QUOTES: Final = {"blockquote": "blockquote", "expandable_blockquote": "blockquote"}
#: These hold nothing but text.
_CODE: Final = frozenset({"pre", "code"})

#: Code, which stays as it is, or a sign that Markdown would take for a tag and drop.
_CODE_OR_TAG: Final = re.compile(
    r"(?P<code>^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<tag><(?=[A-Za-z/!?])(?!https?:|mailto:))",
    re.DOTALL | re.MULTILINE,
)
#: Telegram refuses what is no character: lone surrogates, and controls but tab and newline.
_NO_TEXT: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """One message: as HTML, and as plain text in case the HTML is refused."""

    html: str
    text: str


def clean(text: str) -> str:
    """Return the text without what is no character."""
    return _NO_TEXT.sub("", text.replace("\r\n", "\n"))


def pieces(markdown: str, limit: int = MESSAGE_UNITS) -> list[Piece]:
    """Return the messages that show a Markdown text; never fewer words than it has.

    Blocking for some milliseconds with long texts. Raises nothing.
    """
    return [
        Piece(to_html(one), one.text)
        for one in split(formatted(clean(markdown)), limit)
    ]


def plain_pieces(text: str, limit: int = MESSAGE_UNITS) -> list[Piece]:
    """Return the messages that show a text as it is."""
    return [
        Piece(escape(one.text, quote=False), one.text)
        for one in split(Formatted(clean(text)), limit)
    ]


def formatted(markdown: str) -> Formatted:
    """Return the text and forms of Markdown; the text as it is if it cannot be read."""
    from telegramify_markdown import convert

    source = _CODE_OR_TAG.sub(
        lambda match: "\\<" if match["tag"] else match[0], markdown
    )
    try:
        text, entities = convert(source, latex_escape=False, config=_look())
    except Exception:  # a message is never lost over its looks
        _LOGGER.exception("A reply was sent unformatted")
        return Formatted(markdown)
    if not text.strip() and markdown.strip():
        return Formatted(markdown)
    return Formatted(text, _spans(text, entities))


def _look() -> RenderConfig:
    """Return signs that are quiet: a heading is bold, not a pin."""
    from telegramify_markdown import RenderConfig

    look = RenderConfig.isolated()
    sign = look.markdown_symbol
    sign.heading_level_1 = sign.heading_level_2 = ""
    sign.heading_level_3 = sign.heading_level_4 = ""
    sign.unordered_list_item = "•"
    sign.task_uncompleted = "☐"
    return look


def _spans(text: str, entities: Sequence[MessageEntity]) -> tuple[Span, ...]:
    """Return entities with positions in characters instead of UTF-16 code units."""
    at = [0]
    for character in text:
        at.append(at[-1] + (2 if character > "\uffff" else 1))
    spans = (
        Span(
            one.type,
            bisect_left(at, one.offset),
            bisect_left(at, one.offset + one.length),
            one.url,
            one.language,
        )
        for one in entities
    )
    return tuple(one for one in spans if one.start < one.end)


def to_html(piece: Formatted) -> str:
    """Return a text as Telegram's HTML; every tag is closed, none crosses another."""
    edges = sorted(
        {0, len(piece.text)}
        | {one.start for one in piece.spans}
        | {one.end for one in piece.spans}
    )
    out: list[str] = []
    opened: list[Span] = []
    for start, end in pairwise(edges):
        wanted = _active(piece.spans, start, end)
        same = 0
        while same < min(len(opened), len(wanted)) and opened[same] == wanted[same]:
            same += 1
        out.extend(_close(one) for one in reversed(opened[same:]))
        out.extend(_open(one) for one in wanted[same:])
        opened = wanted
        out.append(escape(piece.text[start:end], quote=False))
    out.extend(_close(one) for one in reversed(opened))
    return "".join(out)


def _active(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Return the spans over a stretch, outermost first, as Telegram lets them nest."""
    over = [
        one for one in spans if one.start <= start and one.end >= end and _open(one)
    ]
    over.sort(key=lambda one: (one.kind not in _QUOTES, one.start, -one.end))
    quotes = [one for one in over if one.kind in _QUOTES][:1]
    code = [one for one in over if one.kind in _CODE][-1:]
    links = [one for one in over if one.kind == "text_link"][:1]
    if code:
        return quotes + code
    seen: set[str] = set()
    rest: list[Span] = []
    for one in over:
        if one.kind in _TAGS and one.kind not in seen:
            seen.add(one.kind)
            rest.append(one)
    return quotes + links + rest


def _open(span: Span) -> str:
    if span.kind == "pre":
        language = re.sub(r"[^\w+#.-]", "", span.language or "")
        return f'<pre><code class="language-{language}">' if language else "<pre>"
    if span.kind == "text_link":
        return f'<a href="{escape(span.url)}">' if span.url else ""
    if span.kind == "expandable_blockquote":
        return "<blockquote expandable>"
    tag = _QUOTES.get(span.kind) or _TAGS.get(span.kind)
    return f"<{tag}>" if tag else ""


def _close(span: Span) -> str:
    if span.kind == "pre":
        return "</code></pre>" if "code" in _open(span) else "</pre>"
    if span.kind == "text_link":
        return "</a>"
    return f"</{_QUOTES.get(span.kind) or _TAGS.get(span.kind)}>"
