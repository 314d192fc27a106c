"""`scripts/bench NAME [--json FILE]`: run one benchmark and print its table."""

from __future__ import annotations

import argparse
import importlib
import json
import os
from pathlib import Path
import platform
import sys
from typing import Any

NAMES = ("io", "satellite", "fast-path", "workspace", "turn", "skills", "telegram")


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def cell(value: Any) -> str:
    """Return one value of the table."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def table(figures: dict[str, dict[str, Any]]) -> str:
    """Return the figures as a table for a terminal."""
    columns = ("value", "unit", "p50", "p99", "runs", "baseline_value", "baseline")
    rows: list[tuple[str, ...]] = [("figure", *columns)]
    rows += [
        (name, *(cell(figure.get(column)) for column in columns))
        for name, figure in figures.items()
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        for row in rows
    )


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=NAMES)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.name is None:
        print("\n".join(NAMES))
        return 0
    module = importlib.import_module(f"benchmarks.{options.name.replace('-', '_')}")
    figures = module.run()
    print(table(figures))
    if options.json:
        report = {"bench": options.name, "machine": machine(), "figures": figures}
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        options.json.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
