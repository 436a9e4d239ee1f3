"""Export: a study's tables, logs and missing requests in the formats of other programs."""

from dsqa.exporting.export import TARGETS, Exported, export_study
from dsqa.exporting.rscript import r_script
from dsqa.exporting.tidy import columns_markdown

__all__ = ["TARGETS", "Exported", "columns_markdown", "export_study", "r_script"]
