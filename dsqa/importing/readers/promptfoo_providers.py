"""What promptfoo's providers were: their names in a result, their parameters in its configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import yaml

from dsqa.errors import SourceError
from dsqa.importing.readers.chat import condition_parameters

__all__ = ["Provider", "Providers", "plain_providers"]

_KINDS = frozenset(
    {"assistant", "chat", "completion", "embedding", "embeddings", "messages", "realtime", "responses", "text"}
)

_TOLD = re.compile(r"\[([^\]\s]+:[^\]\s]+)\] ")


@dataclass(frozen=True, slots=True)
class Provider:
    """A model with its parameters.

    Parameters
    ----------
    id, label
        As promptfoo has them; `label` "" where there is none.
    """

    id: str
    label: str
    endpoint: str | None
    model: str
    temperature: float | None = None
    request: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def named(cls, name: str, label: str = "", config: Mapping[str, Any] | None = None) -> Self:
        """Take a name apart: ``openai:chat:gpt-4o`` is the model gpt-4o at openai."""
        parts = name.split(":")
        temperature, request = condition_parameters(config or {})
        if "://" in name or len(parts) == 1 or parts[0] in {"exec", "python", "golang", "ruby", "package", "webhook"}:
            return cls(name, label, None, label or name, temperature, request)
        rest = parts[2:] if parts[1] in _KINDS and len(parts) > 2 else parts[1:]
        return cls(name, label, parts[0], ":".join(rest), temperature, request)

    @classmethod
    def list_of(cls, listed: Any) -> list[Self]:
        """Return the providers of a configuration: names, objects with id and config, or objects by name."""
        found = []
        for entry in listed if isinstance(listed, list) else [listed]:
            if isinstance(entry, str):
                found.append(cls.named(entry))
            elif isinstance(entry, Mapping) and isinstance(entry.get("id"), str):
                found.append(cls.named(entry["id"], str(entry.get("label") or ""), entry.get("config")))
            elif isinstance(entry, Mapping) and len(entry) == 1:
                name, inside = next(iter(entry.items()))
                inside = inside if isinstance(inside, Mapping) else {}
                name = str(inside.get("id") or name)
                found.append(cls.named(name, str(inside.get("label") or ""), inside.get("config")))
        return found


def plain_providers(path: Path) -> list[Provider]:
    """Return the providers of a configuration file.

    Raises
    ------
    SourceError
        It cannot be read.
    """
    try:
        config = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SourceError(f"cannot be read: {str(error).splitlines()[0]}", path=path) from None
    return Provider.list_of(config.get("providers")) if isinstance(config, Mapping) else []


class Providers:
    """The providers of a file of results."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], None] = {}
        self._known: dict[tuple[str, str], list[Provider]] = {}
        self._by_prompt: dict[int, Provider] = {}

    def see(self, result: Mapping[str, Any]) -> None:
        """Take note of a result's provider."""
        self._seen.setdefault(_named(result))

    def settle(self, configured: Iterable[Provider], prompts: Sequence[Any]) -> None:
        """Say what is known when all results are seen.

        Parameters
        ----------
        configured
            The configuration's providers, in their order.
        prompts
            The results' list of prompts: each prompt with each provider, which a result's ``promptIdx`` counts.
        """
        for provider in {repr(provider): provider for provider in configured}.values():
            self._known.setdefault((provider.id, provider.label), []).append(provider)
        for name, same in self._known.items():
            self._spread(name, same, prompts)
        alike: dict[str, list[tuple[str, str]]] = {}
        for name in self._seen:
            provider = self._plain(name)
            alike.setdefault(repr(replace(provider, id="", label="")), []).append(name)
        self._labelled = {name for names in alike.values() if len(names) > 1 for name in names}

    def _spread(self, name: tuple[str, str], same: Sequence[Provider], prompts: Sequence[Any]) -> None:
        """Give each prompt its provider where several have one name and differ in their parameters."""
        wanted = name[1] or name[0]
        at = [
            number
            for number, prompt in enumerate(prompts)
            if isinstance(prompt, Mapping) and prompt.get("provider") == wanted
        ]
        if len(same) > 1 and at and len(at) % len(same) == 0:
            each = len(at) // len(same)
            self._by_prompt |= {number: same[place // each] for place, number in enumerate(at)}

    def of(self, result: Mapping[str, Any]) -> Provider:
        """Return the provider of a result; labels tell apart what nothing else does."""
        name = _named(result)
        provider = self._by_prompt.get(result.get("promptIdx", -1)) or self._plain(name)
        if name in self._labelled:
            return replace(provider, request={**provider.request, "provider": provider.label or provider.id})
        return provider

    def _plain(self, name: tuple[str, str]) -> Provider:
        known = self._known.get(name) or self._known.get((name[0], ""))
        if known is None and not name[0] and len(self._known) == 1:
            known = next(iter(self._known.values()))
        return known[0] if known else Provider.named(*name)


def _named(result: Mapping[str, Any]) -> tuple[str, str]:
    given = result.get("provider")
    if isinstance(given, Mapping):
        return str(given.get("id") or ""), str(given.get("label") or "")
    if given:
        return str(given), ""
    # Version 1 says it in front of the prompt, where there are several providers.
    prompt = result.get("prompt")
    told = _TOLD.match(str(prompt.get("display") or "")) if isinstance(prompt, Mapping) else None
    return (told[1] if told else ""), ""
