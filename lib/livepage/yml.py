"""Reads YAML: with PyYAML's C parser where it is available; a repeated key is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # C is ten times as fast
    """A loader that rejects duplicate keys, where PyYAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """Return a mapping whose own keys all differ."""
        merge = "tag:yaml.org,2002:merge"  # `<<: *name` takes over another mapping
        keys = [
            "<<" if key.tag == merge else self.construct_object(key, deep=True)
            for key, _ in node.value
        ]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(
                    problem=f"{key!r} stands twice", problem_mark=node.start_mark
                )
        return super().construct_mapping(node, deep)


def read(file: Path) -> Any:
    """Return the content of a YAML file.

    Raises
    ------
    ValueError
        If the file is not YAML or has a key twice; the message names file and line.
    """
    try:
        return yaml.load(file.read_text(encoding="utf-8"), _Loader)
    except yaml.YAMLError as error:
        message = str(error).replace("<unicode string>", file.name)
        raise ValueError(f"{file.name}: {message}") from None
