"""Write docs/columns.md and analysis/read_study.R from what the package says of the outcome table's columns.

python -m analysis.make_columns_page
"""

from __future__ import annotations

from pathlib import Path

from dsqa.exporting import columns_markdown, r_script

ROOT = Path(__file__).parents[1]


def pages() -> dict[Path, str]:
    """Path → what it holds."""
    return {ROOT / "docs" / "columns.md": columns_markdown(), ROOT / "analysis" / "read_study.R": r_script()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path)
