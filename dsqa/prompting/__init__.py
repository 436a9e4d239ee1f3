"""Prompts: a visible, versioned template filled in with a question and a preview of its data file."""

from dsqa.prompting.messages import build_messages
from dsqa.prompting.preview import preview
from dsqa.prompting.template import Template, load_template, shipped_templates

__all__ = ["Template", "build_messages", "load_template", "preview", "shipped_templates"]
