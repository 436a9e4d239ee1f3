"""Reports: a notebook executed on a study, rendered as HTML, PDF or Word.

`build_site` makes the whole report, `render_report` one notebook's. The other names are what a notebook puts on its
page: each takes a `Page` (from `open_page`) and returns Markdown that pandoc and Quarto read alike.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsqa.report.accuracy import (
        accuracy_cells,
        accuracy_curves,
        accuracy_formula_by_question,
        accuracy_lead,
        accuracy_means,
        accuracy_stability,
    )
    from dsqa.report.accuracy_reading import accuracy_conventions
    from dsqa.report.advice import advise
    from dsqa.report.appendix import conditions_table, facts_table, hashes_table, settings_text, template_text
    from dsqa.report.attempts import NotAvailable, attempt
    from dsqa.report.cells_at import accuracy_at, instability_at
    from dsqa.report.comparable import by_condition, compared_lead, comparison_rows, held_equal
    from dsqa.report.comparison import models_compared
    from dsqa.report.contrasts import (
        compared_answers,
        compared_differences,
        compared_effects,
        compared_equivalence,
        compared_means,
        compared_overall,
    )
    from dsqa.report.correlation import (
        correlation_lead,
        correlation_metrics,
        correlation_pairs,
        correlation_repeated,
        correlation_shares,
        correlation_used,
    )
    from dsqa.report.design import design_note
    from dsqa.report.doses import accuracy_formula, dose_answer, dose_curves, dose_slopes, fit_summary
    from dsqa.report.drifting import drift_answer, drift_between, drift_overall, drift_power, drift_questions
    from dsqa.report.formats import FORMATS
    from dsqa.report.instability import (
        any_spread,
        instability_cells,
        instability_groups,
        instability_lead,
        instability_parts,
        instability_thresholds,
    )
    from dsqa.report.instability_sources import (
        instability_balance,
        instability_components,
        instability_layers,
        left_out,
    )
    from dsqa.report.judging import agreement_table, mark_variance, marks_answer, rater_pairs, rater_table
    from dsqa.report.ledger import execution_table, isolation_text, ledger_table
    from dsqa.report.marks import marks_of
    from dsqa.report.meaning import hurry
    from dsqa.report.methods import interval_table
    from dsqa.report.page import Page, open_page
    from dsqa.report.periods import periods_of, periods_text, sessions_table
    from dsqa.report.pictures import answer_figures, place_figure
    from dsqa.report.planned import (
        curves_table,
        plan_costs,
        planned_differences,
        planned_precision,
        planned_verdicts,
        sizes_to_plan,
        stopping_replayed,
    )
    from dsqa.report.questions import question_cards, question_table
    from dsqa.report.readings import readers_table
    from dsqa.report.regressions import cluster_of, regression_summary
    from dsqa.report.reliability import (
        conditions_reliability,
        crossed_reliability,
        mean_reliability,
        reliability_answer,
        reliability_table,
        variance_table,
    )
    from dsqa.report.render import render_report
    from dsqa.report.sheet import assignment_sheet, sheet_lead, sheet_summary
    from dsqa.report.site import SiteResult, build_site
    from dsqa.report.software import software_text
    from dsqa.report.sources import read_sources, sources_lead, sources_missing, sources_table, sources_worst
    from dsqa.report.spending import spending_table
    from dsqa.report.stopping import runs_needed, stopping_methods
    from dsqa.report.tables import Field, Note, data_table, model_summary
    from dsqa.report.unread import unread_note
    from dsqa.report.verbosity import verbosity_by, verbosity_lead, verbosity_rows, verbosity_runs, verbosity_slopes
    from dsqa.report.verbosity_line import verbosity_checks, verbosity_levels, verbosity_paper
    from dsqa.report.verdict import lead, verdict_table

__all__ = [
    "FORMATS",
    "Field",
    "NotAvailable",
    "Note",
    "Page",
    "SiteResult",
    "accuracy_at",
    "accuracy_cells",
    "accuracy_conventions",
    "accuracy_curves",
    "accuracy_formula",
    "accuracy_formula_by_question",
    "accuracy_lead",
    "accuracy_means",
    "accuracy_stability",
    "advise",
    "agreement_table",
    "answer_figures",
    "any_spread",
    "assignment_sheet",
    "attempt",
    "build_site",
    "by_condition",
    "cluster_of",
    "compared_answers",
    "compared_differences",
    "compared_effects",
    "compared_equivalence",
    "compared_lead",
    "compared_means",
    "compared_overall",
    "comparison_rows",
    "conditions_reliability",
    "conditions_table",
    "correlation_lead",
    "correlation_metrics",
    "correlation_pairs",
    "correlation_repeated",
    "correlation_shares",
    "correlation_used",
    "crossed_reliability",
    "curves_table",
    "data_table",
    "design_note",
    "dose_answer",
    "dose_curves",
    "dose_slopes",
    "drift_answer",
    "drift_between",
    "drift_overall",
    "drift_power",
    "drift_questions",
    "execution_table",
    "facts_table",
    "fit_summary",
    "hashes_table",
    "held_equal",
    "hurry",
    "instability_at",
    "instability_balance",
    "instability_cells",
    "instability_components",
    "instability_groups",
    "instability_layers",
    "instability_lead",
    "instability_parts",
    "instability_thresholds",
    "interval_table",
    "isolation_text",
    "lead",
    "ledger_table",
    "left_out",
    "mark_variance",
    "marks_answer",
    "marks_of",
    "mean_reliability",
    "model_summary",
    "models_compared",
    "open_page",
    "periods_of",
    "periods_text",
    "place_figure",
    "plan_costs",
    "planned_differences",
    "planned_precision",
    "planned_verdicts",
    "question_cards",
    "question_table",
    "rater_pairs",
    "rater_table",
    "read_sources",
    "readers_table",
    "regression_summary",
    "reliability_answer",
    "reliability_table",
    "render_report",
    "runs_needed",
    "sessions_table",
    "settings_text",
    "sheet_lead",
    "sheet_summary",
    "sizes_to_plan",
    "software_text",
    "sources_lead",
    "sources_missing",
    "sources_table",
    "sources_worst",
    "spending_table",
    "stopping_methods",
    "stopping_replayed",
    "template_text",
    "unread_note",
    "variance_table",
    "verbosity_by",
    "verbosity_checks",
    "verbosity_lead",
    "verbosity_levels",
    "verbosity_paper",
    "verbosity_rows",
    "verbosity_runs",
    "verbosity_slopes",
    "verdict_table",
]

# What a page is made of is imported in the notebook's own process and not where reports are rendered, and the other
# way round: either takes seconds.
_ON_A_PAGE = {
    "accuracy": (
        "accuracy_cells",
        "accuracy_curves",
        "accuracy_formula_by_question",
        "accuracy_lead",
        "accuracy_means",
        "accuracy_stability",
    ),
    "accuracy_reading": ("accuracy_conventions",),
    "advice": ("advise",),
    "appendix": ("conditions_table", "facts_table", "hashes_table", "settings_text", "template_text"),
    "attempts": ("NotAvailable", "attempt"),
    "cells_at": ("accuracy_at", "instability_at"),
    "comparable": ("by_condition", "compared_lead", "comparison_rows", "held_equal"),
    "comparison": ("models_compared",),
    "contrasts": (
        "compared_answers",
        "compared_differences",
        "compared_effects",
        "compared_equivalence",
        "compared_means",
        "compared_overall",
    ),
    "correlation": (
        "correlation_lead",
        "correlation_metrics",
        "correlation_pairs",
        "correlation_repeated",
        "correlation_shares",
        "correlation_used",
    ),
    "design": ("design_note",),
    "doses": ("accuracy_formula", "dose_answer", "dose_curves", "dose_slopes", "fit_summary"),
    "drifting": ("drift_answer", "drift_between", "drift_overall", "drift_power", "drift_questions"),
    "formats": ("FORMATS",),
    "instability": (
        "any_spread",
        "instability_cells",
        "instability_groups",
        "instability_lead",
        "instability_parts",
        "instability_thresholds",
    ),
    "instability_sources": ("instability_balance", "instability_components", "instability_layers", "left_out"),
    "judging": ("agreement_table", "mark_variance", "marks_answer", "rater_pairs", "rater_table"),
    "ledger": ("execution_table", "isolation_text", "ledger_table"),
    "marks": ("marks_of",),
    "meaning": ("hurry",),
    "methods": ("interval_table",),
    "page": ("Page", "open_page"),
    "periods": ("periods_of", "periods_text", "sessions_table"),
    "pictures": ("answer_figures", "place_figure"),
    "planned": (
        "curves_table",
        "plan_costs",
        "planned_differences",
        "planned_precision",
        "planned_verdicts",
        "sizes_to_plan",
        "stopping_replayed",
    ),
    "questions": ("question_cards", "question_table"),
    "readings": ("readers_table",),
    "regressions": ("cluster_of", "regression_summary"),
    "reliability": (
        "conditions_reliability",
        "crossed_reliability",
        "mean_reliability",
        "reliability_answer",
        "reliability_table",
        "variance_table",
    ),
    "render": ("render_report",),
    "sheet": ("assignment_sheet", "sheet_lead", "sheet_summary"),
    "site": ("SiteResult", "build_site"),
    "software": ("software_text",),
    "sources": ("read_sources", "sources_lead", "sources_missing", "sources_table", "sources_worst"),
    "spending": ("spending_table",),
    "stopping": ("runs_needed", "stopping_methods"),
    "tables": ("Field", "Note", "data_table", "model_summary"),
    "verbosity": ("verbosity_by", "verbosity_lead", "verbosity_rows", "verbosity_runs", "verbosity_slopes"),
    "verbosity_line": ("verbosity_checks", "verbosity_levels", "verbosity_paper"),
    "unread": ("unread_note",),
    "verdict": ("lead", "verdict_table"),
}


def __getattr__(name: str) -> Any:
    for module, names in _ON_A_PAGE.items():
        if name in names:
            return getattr(import_module(f"dsqa.report.{module}"), name)
    raise AttributeError(f"module 'dsqa.report' has no attribute '{name}'")
