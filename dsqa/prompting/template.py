"""Prompt templates: the shipped ones and a user's own, checked before a run is paid for."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, nodes
from jinja2 import Template as Compiled
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dsqa.errors import StudyError

__all__ = ["VARIABLES", "Template", "load_template", "shipped_templates"]

#: What a template can use.
VARIABLES = ("question", "format", "names", "options", "file_name", "preview")
_SHIPPED = Path(__file__).parent / "templates"
_FIELD = "prompt.template"
# Sandboxed, since a study and its template may come from someone else.
_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # a prompt is plain text, not HTML
)


@dataclass(frozen=True)
class Template:
    """A Jinja2 template of a prompt.

    Parameters
    ----------
    name
        The shipped template's name, or the user's file name.
    text
        The template's source, with plain line breaks.
    sha256
        SHA-256 of `text` as UTF-8, in hex.
    """

    name: str
    text: str
    sha256: str

    def render(self, **values: object) -> str:
        """Fill the template in; white space at both ends is dropped.

        Raises
        ------
        StudyError
            The template uses something that does not exist, or fails.
        """
        try:
            return _compiled(self.text).render(**values).strip()
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise StudyError(f"template '{self.name}' fails: {error}", field=_FIELD) from None


@lru_cache(maxsize=16)
def _compiled(text: str) -> Compiled:
    # A study renders one template for each of its questions; compiling it is most of that.
    return _ENVIRONMENT.from_string(text)


def shipped_templates() -> tuple[str, ...]:
    """Return the names of the templates that `dsqa` ships."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.md")))


def load_template(name_or_path: str, base_dir: Path | None = None) -> Template:
    """Load a template and check it.

    Parameters
    ----------
    name_or_path
        A shipped template's name, or the path of a file. A shipped name wins.
    base_dir
        What a relative path is relative to; the working folder by default.

    Raises
    ------
    StudyError
        There is no such template, it is not valid Jinja2, it uses a variable that does not exist, or it
        never uses `question`.
    """
    shipped = shipped_templates()
    if name_or_path in shipped:
        path = _SHIPPED / f"{name_or_path}.md"
        name = name_or_path
    else:
        path = (base_dir or Path()) / name_or_path
        name = path.name
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        near = difflib.get_close_matches(name_or_path, shipped, n=1)
        hint = f"shipped templates: {', '.join(shipped)}" + (f"; did you mean '{near[0]}'?" if near else "")
        message = f"no template has the name '{name_or_path}', and {path} is not a file"
        raise StudyError(message, field=_FIELD, hint=hint) from None
    except UnicodeDecodeError:
        raise StudyError("is not UTF-8 text", path=path, hint="save the template as UTF-8") from None
    except OSError as error:
        raise StudyError(f"cannot be read: {error.strerror or error}", path=path) from None
    _check(text, path)
    return Template(name, text, hashlib.sha256(text.encode()).hexdigest())


def _check(text: str, path: Path) -> None:
    try:
        tree = _ENVIRONMENT.parse(text)
    except TemplateSyntaxError as error:
        raise StudyError(f"not a valid template: {error.message}", path=path, line=error.lineno) from None
    used = find_undeclared_variables(tree)
    for variable in sorted(used - set(VARIABLES)):
        line = min(node.lineno for node in tree.find_all(nodes.Name) if node.name == variable)
        near = difflib.get_close_matches(variable, VARIABLES, n=1)
        hint = f"there are: {', '.join(VARIABLES)}" + (f"; did you mean '{near[0]}'?" if near else "")
        raise StudyError(f"there is no variable '{variable}'", path=path, line=line, hint=hint)
    if "question" not in used:
        raise StudyError("never uses {{ question }}, so every question would be asked alike", path=path)
