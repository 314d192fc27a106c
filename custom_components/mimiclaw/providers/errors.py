"""From what a client library raises to the one error that leaves this room.

The libraries are told apart by the names of their classes, not by import: they load
slowly, and both of them may run on either of two HTTP packages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import json
from pathlib import PurePath
import ssl
import traceback
from typing import Any, Final

from .protocol import ErrorKind, ProviderConfig, ProviderError
from .secrets import scrub

_BY_STATUS: Final = {
    401: ErrorKind.KEY,
    402: ErrorKind.QUOTA,
    403: ErrorKind.KEY,
    404: ErrorKind.NOT_FOUND,
    408: ErrorKind.TIMEOUT,
    409: ErrorKind.OVERLOAD,
    413: ErrorKind.CONTEXT,
    425: ErrorKind.OVERLOAD,
    429: ErrorKind.RATE,
    504: ErrorKind.TIMEOUT,
}

#: `code` and `type` words of both wire formats, where the status does not tell all.
_BY_CODE: Final = {
    "authentication_error": ErrorKind.KEY,
    "invalid_api_key": ErrorKind.KEY,
    "permission_error": ErrorKind.KEY,
    "billing_error": ErrorKind.QUOTA,
    "billing_hard_limit_reached": ErrorKind.QUOTA,
    "insufficient_quota": ErrorKind.QUOTA,
    "rate_limit_error": ErrorKind.RATE,
    "rate_limit_exceeded": ErrorKind.RATE,
    "overloaded_error": ErrorKind.OVERLOAD,
    "api_error": ErrorKind.OVERLOAD,
    "server_error": ErrorKind.OVERLOAD,
    "timeout_error": ErrorKind.TIMEOUT,
    "not_found_error": ErrorKind.NOT_FOUND,
    "model_not_found": ErrorKind.NOT_FOUND,
    "request_too_large": ErrorKind.CONTEXT,
    "context_length_exceeded": ErrorKind.CONTEXT,
    "exceed_context_size_error": ErrorKind.CONTEXT,
    "content_filter": ErrorKind.REFUSED,
    "content_policy_violation": ErrorKind.REFUSED,
    "invalid_prompt": ErrorKind.REFUSED,
    "bio_policy": ErrorKind.REFUSED,
    "misalignment_policy_violation": ErrorKind.REFUSED,
    "invalid_request_error": ErrorKind.BAD_REQUEST,
}

#: Words of messages, for servers that put everything into 400 and a sentence.
_BY_WORDS: Final = (
    ("credit balance is too low", ErrorKind.QUOTA),
    ("exceeded your current quota", ErrorKind.QUOTA),
    ("prompt is too long", ErrorKind.CONTEXT),
    ("context length", ErrorKind.CONTEXT),
    ("context window", ErrorKind.CONTEXT),
    ("context size", ErrorKind.CONTEXT),
    ("content management policy", ErrorKind.REFUSED),
)

_VAGUE: Final = frozenset(
    {None, ErrorKind.BAD_REQUEST, ErrorKind.RATE, ErrorKind.OVERLOAD}
)


class AnswerTooLongError(Exception):
    """The server sends more than anybody asked for; the connection is given up."""


class MalformedAnswerError(Exception):
    """What came is not what the wire format promises; the text says what is missing."""


def translate(error: BaseException, config: ProviderConfig) -> ProviderError:
    """Return the ProviderError that stands for what a client library raised."""
    if isinstance(error, ProviderError):
        return error
    names = {cls.__name__ for cls in type(error).__mro__}
    status = getattr(error, "status_code", None)
    body = getattr(error, "body", None)
    if isinstance(status, int):
        return _from_answer(error, status, body, config)
    if "APIConnectionError" in names or "TransportError" in names:
        return _from_connection(error, names, config)
    if isinstance(error, TimeoutError):
        return _make(ErrorKind.TIMEOUT, config, "no answer in time")
    if isinstance(error, OSError):
        return _from_connection(error, names, config)
    if "APIError" in names:
        # An error event inside a stream that had begun well.
        return _from_answer(error, None, body, config)
    if isinstance(error, UnicodeEncodeError) or "Illegal header value" in str(error):
        # Never quote these: their text holds the header, and so the key.
        return _make(
            ErrorKind.KEY, config, "the key has characters that no key can have"
        )
    if isinstance(error, MalformedAnswerError):
        return _make(ErrorKind.MALFORMED, config, str(error))
    # Events without what the format promises end here, and so would a slip of our own.
    where = f"{type(error).__name__} at {_place(error)}"
    return _make(ErrorKind.MALFORMED, config, f"{where}: {error}")


def _place(error: BaseException) -> str:
    """Return file and line an exception comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    return (
        f"{PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    )


def of_status(status: int) -> ErrorKind:
    """Return what an HTTP status of 300 or more says by itself."""
    return _kind_of_status(status) or ErrorKind.NOT_FOUND


def error_of(config: ProviderConfig, code: str, message: str) -> ProviderError:
    """Return the error for a failure reported inside a well-formed stream."""
    return _make(_refine(None, code, message), config, message or code)


def _make(
    kind: ErrorKind,
    config: ProviderConfig,
    detail: str,
    status: int | None = None,
    retry_after_s: float | None = None,
) -> ProviderError:
    return ProviderError(
        kind, config.name, scrub(detail, config.api_key), status, retry_after_s
    )


def _from_answer(
    error: BaseException, status: int | None, body: object, config: ProviderConfig
) -> ProviderError:
    code, message, inner_status = _read_body(body)
    if status in (None, 200) and inner_status is not None:
        status = inner_status
    headers: Mapping[str, str] = getattr(
        getattr(error, "response", None), "headers", {}
    )
    kind = _kind_of_status(status)
    detail = message or _words_of_page(body) or str(error)
    if status is not None and 300 <= status < 400:
        kind = ErrorKind.NOT_FOUND
        detail = f"moved to {headers.get('location', 'another address')}"
    return _make(
        _refine(kind, code, message or detail),
        config,
        detail,
        # An error inside a stream comes under the 200 the stream began with.
        status if status is not None and status >= 300 else None,
        _retry_after(headers),
    )


def _kind_of_status(status: int | None) -> ErrorKind | None:
    if status is None or status < 400:
        return None
    return _BY_STATUS.get(
        status, ErrorKind.OVERLOAD if status >= 500 else ErrorKind.BAD_REQUEST
    )


def _refine(kind: ErrorKind | None, code: str, message: str) -> ErrorKind:
    """Let words say more than a vague status does, and never less than a clear one."""
    if kind not in _VAGUE:
        return kind or ErrorKind.MALFORMED
    for part in code.split():
        by_code = _BY_CODE.get(part)
        if by_code not in _VAGUE:
            return by_code or ErrorKind.MALFORMED
    lowered = message.lower()
    for words, by_words in _BY_WORDS:
        if words in lowered:
            return by_words
    if kind is not None:
        return kind
    for part in code.split():
        if part in _BY_CODE:
            return _BY_CODE[part]
    return ErrorKind.OVERLOAD


def _read_body(body: object) -> tuple[str, str, int | None]:
    """Return the error's code words, its message and a status it names itself."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            code = inner.get("code")
            words = [code, inner.get("type")]
            status = code if isinstance(code, int) and 400 <= code < 600 else None
            message = inner.get("message")
            return (
                " ".join(word for word in words if isinstance(word, str)),
                message if isinstance(message, str) else "",
                status,
            )
        if isinstance(inner, str):
            return "", inner, None
        detail = body.get("detail")
        if detail is not None:
            return "", detail if isinstance(detail, str) else _compact(detail), None
    return "", "", None


def _compact(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError, ValueError:
        return str(value)


def _words_of_page(body: object) -> str:
    """Say what a body is that is not the API's: usually a proxy's page."""
    if not isinstance(body, str) or not body.strip():
        return ""
    if "<html" in body[:1000].lower() or body.lstrip().startswith("<"):
        title = body.partition("<title>")[2].partition("</title>")[0].strip()
        return f"a web page answered instead of the API: {title or 'untitled'}"
    return body


def _from_connection(
    error: BaseException, names: set[str], config: ProviderConfig
) -> ProviderError:
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError) or (
            "certificate verify failed" in str(cause).lower()
        ):
            return _make(ErrorKind.CERTIFICATE, config, str(cause))
        if "Illegal header value" in str(cause):
            return _make(
                ErrorKind.KEY, config, "the key has characters that no key can have"
            )
    all_names = names.union(*({c.__name__ for c in type(e).__mro__} for e in causes))
    if "ConnectTimeout" in all_names:
        return _make(ErrorKind.NETWORK, config, "nobody answers at this address")
    if {"APITimeoutError", "TimeoutException", "TimeoutError"} & all_names:
        return _make(ErrorKind.TIMEOUT, config, "no answer in time")
    deepest = next((str(cause) for cause in reversed(causes) if str(cause)), "")
    return _make(ErrorKind.NETWORK, config, deepest or type(error).__name__)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what it came from, each once."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the pause the server asks for, in seconds."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        value = headers.get("retry-after")
        if not value:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return float(value)
        wait = parsedate_to_datetime(value) - datetime.now(UTC)
        return max(0.0, wait.total_seconds())
    except TypeError, ValueError, OverflowError:
        return None
