"""Telegram's HTML and Markdown: what it refuses, and what text and entities it makes."""

from __future__ import annotations

from html.parser import HTMLParser
import re
from typing import Any

_SIMPLE = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "a": "text_link",
}
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#\d+|#x[0-9a-fA-F]+);|&")
_MD2_RESERVED = set("_*[]()~`>#+-=|{}.!")


class MarkupError(Exception):
    """The text is not what its parse mode says; the message is Telegram's."""


def units(text: str) -> int:
    """Return UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def parse(text: str, mode: str | None) -> tuple[str, list[dict[str, Any]]]:
    """Return plain text and entities. Raises MarkupError as Telegram refuses."""
    if not mode:
        return text, []
    if mode.lower() == "html":
        parser = _Html(text)
        return parser.result()
    if mode.lower() == "markdownv2":
        return _markdown(text, strict=True), []
    if mode.lower() == "markdown":
        return _markdown(text, strict=False), []
    raise MarkupError("unsupported parse_mode")


class _Html(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self._text: list[str] = []
        self._open: list[tuple[str, int, dict[str, Any]]] = []
        self._entities: list[dict[str, Any]] = []
        for match in re.finditer(r"<(?!/?[A-Za-z])", source):
            raise MarkupError(
                f'can\'t parse entities: Unsupported start tag "" at byte offset {match.start()}'
            )
        self.feed(source)
        self.close()
        if self._open:
            raise MarkupError(
                "can't parse entities: Can't find end tag corresponding to start tag "
                f'"{self._open[-1][0]}"'
            )

    @property
    def _at(self) -> int:
        return units("".join(self._text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _SIMPLE:
            raise MarkupError(f'can\'t parse entities: Unsupported start tag "{tag}"')
        given = dict(attrs)
        entity: dict[str, Any] = {"type": _SIMPLE[tag]}
        outer = [one[0] for one in self._open]
        if tag == "code" and outer[-1:] == ["pre"]:
            language = (given.get("class") or "").removeprefix("language-")
            self._open[-1][2]["language"] = language
            entity = {}
        elif "pre" in outer or "code" in outer:
            raise MarkupError("can't parse entities: nested entities in code")
        if tag in {"code", "pre"} and set(outer) - {"blockquote", "pre"}:
            raise MarkupError("can't parse entities: code in another entity")
        if tag == "blockquote" and "blockquote" in outer:
            raise MarkupError("can't parse entities: Blockquotes can't be nested")
        if tag == "a":
            entity["url"] = given.get("href") or ""
        if tag == "blockquote" and "expandable" in given:
            entity["type"] = "expandable_blockquote"
        self._open.append((tag, self._at, entity))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1][0] != tag:
            found = self._open[-1][0] if self._open else ""
            raise MarkupError(
                f'can\'t parse entities: Unmatched end tag, expected "</{found}>", found "</{tag}>"'
            )
        _, start, entity = self._open.pop()
        if entity and self._at > start:
            self._entities.append(
                {**entity, "offset": start, "length": self._at - start}
            )

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def result(self) -> tuple[str, list[dict[str, Any]]]:
        text = "".join(self._text)
        self._entities.sort(key=lambda one: (one["offset"], -one["length"]))
        return text, self._entities


def _markdown(text: str, *, strict: bool) -> str:
    """Refuse unbalanced signs, and with MarkdownV2 any reserved one without its \\."""
    out: list[str] = []
    opened: list[str] = []
    at = 0
    signs = (
        ("```", "||", "__", "*", "_", "~", "`") if strict else ("```", "*", "_", "`")
    )
    while at < len(text):
        character = text[at]
        in_code = bool(opened) and opened[-1] in {"`", "```"}
        if character == "\\" and at + 1 < len(text):
            out.append(text[at + 1])
            at += 2
            continue
        sign = next((one for one in signs if text.startswith(one, at)), None)
        if sign and (not in_code or opened[-1] == sign):
            if opened and opened[-1] == sign:
                opened.pop()
            else:
                opened.append(sign)
            at += len(sign)
            continue
        if strict and not in_code and character in _MD2_RESERVED - set("[]()>"):
            raise MarkupError(
                f"can't parse entities: Character '{character}' is reserved and must be "
                "escaped with the preceding '\\'"
            )
        out.append(character)
        at += 1
    if opened:
        raise MarkupError(
            "can't parse entities: Can't find end of the entity starting at byte offset 0"
        )
    return "".join(out)
