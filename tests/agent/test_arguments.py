"""What models send is forgiven where no meaning is lost, else refused in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from custom_components.mimiclaw.agent.arguments import check
from custom_components.mimiclaw.tools.base import ToolError, schema

RULES = schema(
    {
        "path": {"type": "string"},
        "offset": {"type": "integer"},
        "duration_s": {"type": "number"},
        "whole": {"type": "boolean"},
        "state": {"type": "string", "enum": ["on", "off"]},
    },
    required=("path",),
)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"path": "/a"}, {"path": "/a"}),
        ({"path": "/a", "offset": "12"}, {"path": "/a", "offset": 12}),
        ({"path": "/a", "offset": 12.0}, {"path": "/a", "offset": 12}),
        ({"path": "/a", "duration_s": "1.5"}, {"path": "/a", "duration_s": 1.5}),
        ({"path": "/a", "whole": "True"}, {"path": "/a", "whole": True}),
        ({"path": 7}, {"path": "7"}),
        ({"path": "/a", "offset": None}, {"path": "/a"}),
        ({"path": "/a", "unknown": 1}, {"path": "/a"}),
        ({"prefix": "/a"}, {"path": "/a"}),
    ],
)
def test_forgiven(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert check(given, RULES, {"prefix": "path"}) == wanted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "path is missing"),
        ({"path": None}, "path is missing"),
        ({"path": ["/a"]}, "path must be of type string"),
        ({"path": "/a", "offset": "soon"}, "offset must be of type integer"),
        ({"path": "/a", "offset": True}, "offset must be of type integer"),
        ({"path": "/a", "whole": 1}, "whole must be of type boolean"),
        ({"path": "/a", "state": "up"}, "state must be one of on, off"),
    ],
)
def test_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ToolError, match=said):
        check(given, RULES, {})
