"""Validate many configurations in one ESPHome: run by ESPHome's own Python, not by the tests'.

Standard input is a JSON list of files; standard output a JSON list of their error texts.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
import sys

# By name: in the tests' own environment there is no such package to check against.
config = importlib.import_module("esphome.config")
CORE = importlib.import_module("esphome.core").CORE


def errors(file: str) -> list[str]:
    """What ESPHome says against this file, nothing if it is valid."""
    CORE.reset()
    CORE.config_path = Path(file)
    return [str(error) for error in config.load_config({}).errors]


if __name__ == "__main__":
    json.dump([errors(file) for file in json.load(sys.stdin)], sys.stdout)
