"""A pytest plugin (`-p tests.bare`) that takes Home Assistant away.

The plain rooms promise to need no Home Assistant. With this plugin their package is
there without its `__init__`, and an import of `homeassistant` fails.
"""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_HOUSE = Path(__file__).parents[1] / "custom_components" / "mimiclaw"


class _NoHomeAssistant:
    """A finder that refuses one package."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if name.partition(".")[0] == "homeassistant":
            raise ModuleNotFoundError(f"{name} is out of reach for the plain rooms")
        return None


def _register_package() -> None:
    spec = ModuleSpec("custom_components.mimiclaw", None, is_package=True)
    spec.submodule_search_locations = [str(_HOUSE)]
    sys.modules[spec.name] = module_from_spec(spec)


sys.meta_path.insert(0, _NoHomeAssistant())
_register_package()
