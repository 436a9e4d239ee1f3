"""Parameters that a model does not take as they were asked: renamed or left out, said once, never in silence."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from dsqa.endpoints.classify import error_in

__all__ = ["Adapter"]

_log = logging.getLogger("dsqa.endpoints")

_STATUSES = {400, 404, 422}
_RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_REFUSED = re.compile(
    r"unsupported|not supported|does ?n[o']t support|not support\b|only the default|deprecated|extra inputs"
    r"|not permitted|unrecognized|unknown (parameter|field|argument)|unexpected",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Rule:
    parameter: str
    sent_as: str | None
    """None: left out."""
    why: str


class Adapter:
    """What has been learnt of an endpoint's models from the requests they refused.

    Two things only are adapted, since they leave the question as it is. The limit of tokens is sent under its other
    name (``max_tokens``, ``max_completion_tokens``). A temperature that a model refuses is left out: the answer is
    the one at the model's own temperature, which `Record.adapted` says. Whatever else is refused stays refused.

    Parameters
    ----------
    name
        The endpoint's name in the study, for messages.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._rules: dict[str, tuple[_Rule, ...]] = {}
        self._left_out: dict[str, set[float]] = {}

    def apply(self, body: Mapping[str, Any]) -> tuple[dict[str, Any] | None, tuple[dict[str, Any], ...]]:
        """Return the body to send in place of `body` and notes for the record; None and none where it may stay."""
        model = str(body.get("model"))
        rules = [rule for rule in self._rules.get(model, ()) if rule.parameter in body]
        if not rules:
            return None, ()
        changed = dict(body)
        notes = []
        for rule in rules:
            value = changed.pop(rule.parameter)
            note = {"parameter": rule.parameter, "asked": value, "sent": None, "why": rule.why}
            if rule.sent_as is not None:
                changed[rule.sent_as] = value
                note |= {"sent": value, "sent_as": rule.sent_as}
            elif rule.parameter == "temperature":
                self._say_if_the_same(model, value)
            notes.append(note)
        return changed, tuple(notes)

    def learn(self, status: int, text: str, sent: Mapping[str, Any]) -> bool:
        """Take in a refusal; return whether the request, adapted, is worth sending again.

        Parameters
        ----------
        status, text
            The response, without keys.
        sent
            The body that was refused.
        """
        if status not in _STATUSES:
            return False
        error = error_in(text)
        said = str(error.get("message") or text)
        code = str(error.get("code") or "")
        if not (_REFUSED.search(said) or code in {"unsupported_parameter", "unsupported_value", "unknown_parameter"}):
            return False
        parameter = _named_parameter(error, said, sent)
        if parameter is None:
            return False
        model = str(sent.get("model"))
        rule = _Rule(parameter, _RENAMED.get(parameter), " ".join(said.split())[:300])
        known = self._rules.get(model, ())
        if any(old.sent_as == parameter for old in known):
            # It is under its other name already: neither will do.
            return False
        if all(old.parameter != parameter for old in known):
            self._rules[model] = (*known, rule)
            self._say(model, rule)
        return True

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return what has been learnt as plain data."""
        return {model: [asdict(rule) for rule in rules] for model, rules in self._rules.items()}

    @classmethod
    def from_dict(cls, name: str, data: Mapping[str, list[dict[str, Any]]]) -> Self:
        """Rebuild from `to_dict`'s output."""
        adapter = cls(name)
        adapter._rules = {model: tuple(_Rule(**rule) for rule in rules) for model, rules in data.items()}
        return adapter

    def _say(self, model: str, rule: _Rule) -> None:
        if rule.sent_as is not None:
            _log.warning(
                "endpoint '%s': '%s' takes %s in place of %s; sent so from here on",
                self._name,
                model,
                rule.sent_as,
                rule.parameter,
            )
        else:
            _log.warning(
                "endpoint '%s': '%s' refuses the %s (%s); its runs go out without one, and are recorded as such",
                self._name,
                model,
                rule.parameter,
                rule.why,
            )

    def _say_if_the_same(self, model: str, value: Any) -> None:
        asked = self._left_out.setdefault(model, set())
        if value in asked or len(asked) >= 2:
            return
        asked.add(value)
        if len(asked) == 2:
            _log.warning(
                "endpoint '%s': '%s' refuses a temperature, so the temperatures the study asks it at are one and the "
                "same condition, paid for several times; give the model  temperatures: [null]  to ask it once",
                self._name,
                model,
            )


def _named_parameter(error: Mapping[str, Any], said: str, sent: Mapping[str, Any]) -> str | None:
    for name in ("max_tokens", "max_completion_tokens", "temperature"):
        if name in sent and error.get("param") == name:
            return name
    # A message on one of the two names may recommend the other: what was sent is what was refused.
    return next(
        (
            name
            for name in ("max_tokens", "max_completion_tokens", "temperature")
            if name in sent and re.search(rf"\b{name}\b", said)
        ),
        None,
    )
