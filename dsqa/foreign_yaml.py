"""YAML that people wrote, read with its lines, and without the traps that YAML has."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["YamlError", "read_yaml"]

_MOST_VALUES = 100_000
_DEEPEST = 100
_LONGEST_NUMBER = 400


class YamlError(ValueError):
    """A text is no YAML that can be used.

    Parameters
    ----------
    message
        What is wrong.
    line
        Where, from 1; None where that is not known.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def read_yaml(text: str, loader: type[yaml.SafeLoader] = yaml.SafeLoader) -> tuple[yaml.Node | None, Any]:
    """Return a YAML text as nodes, which know their lines, and as data.

    Parameters
    ----------
    text
        One document.
    loader
        How its scalars are read.

    Raises
    ------
    YamlError
        It is no YAML; or it refers to itself, is nested more than 100 deep, or repeats parts of itself until it
        has more than 100,000 values (which a few lines of aliases can do).

    Examples
    --------
    >>> read_yaml("runs: 3")[1]
    {'runs': 3}
    """
    try:
        node = yaml.compose(text, Loader=loader)
        if node is None:
            return None, None
        _check_yaml(node)
        return node, loader("").construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(
            f"not valid YAML: {error.problem or error.context}", mark.line + 1 if mark else None
        ) from None
    except yaml.YAMLError as error:
        raise YamlError("not valid YAML: " + " ".join(str(error).split())) from None
    except RecursionError:
        raise YamlError("is nested too deeply") from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, YamlError):
            raise
        raise YamlError(f"holds a value that is none: {error}") from None


def _check_yaml(root: yaml.Node) -> None:
    left = _MOST_VALUES
    path: list[tuple[yaml.Node, list[yaml.Node]]] = [(root, _below(root))]
    above = {id(root)}
    while path:
        node, rest = path[-1]
        if not rest:
            path.pop()
            above.discard(id(node))
            continue
        below = rest.pop()
        line = below.start_mark.line + 1
        left -= 1
        if id(below) in above:
            raise YamlError("refers to itself", line)
        if left < 0:
            raise YamlError(f"has more than {_MOST_VALUES:,} values, counting what its aliases repeat")
        if len(path) > _DEEPEST:
            raise YamlError("is nested too deeply", line)
        above.add(id(below))
        path.append((below, _below(below)))


def _below(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in reversed(node.value) for part in reversed(pair)]
    if isinstance(node, yaml.SequenceNode):
        return list(reversed(node.value))
    if node.tag.endswith((":int", ":float")) and len(node.value) > _LONGEST_NUMBER:
        raise YamlError(f"holds a number of {len(node.value):,} characters", node.start_mark.line + 1)
    return []
