"""How often each interval that a page prints holds the truth: the simulation behind every default.

``python -m analysis.coverage`` makes docs/coverage.md, analysis/results/coverage.csv and dsqa/stats/shown.csv.
"""
