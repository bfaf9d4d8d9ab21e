//! A file of Python, and its symbols.

pub(super) const TEXT: &str = r#"
"""Views."""

from __future__ import annotations

import os.path, numpy as np
from typing import TYPE_CHECKING, NamedTuple
from .declare import Name, ViewSpec as Spec
from ..shown import *

if TYPE_CHECKING:
    from .parts import Part

MAX_NAME: int = 64
TABLE = {"first": make("a long text for the first row"), "second": 2}
lower = compute()
Point = collections.namedtuple("Point", "x y")
type Views = list[View]

try:
    import json
except ImportError:
    json = None


@dataclass(frozen=True)
class View(Base, models.Shown, metaclass=Meta):
    """A view."""

    LIMIT = 10
    name: Name = field(default="a")

    def __init__(self, spec: Spec, *args, names=("a long default value", "that nobody reads", "here"), **kwargs) -> None:
        # Comment.
        super().__init__(spec)
        self.parts = [Part(part) for part in spec.parts if part.is_shown()]
        found, (first, *others) = find_all(spec, depth=2)
        self.size = found.size

    @property
    def title(self) -> str:
        from .late import Late

        def inner(value):
            return Late(value)

        return inner(f"{self.name} {shorten(self.text)}")

    @staticmethod
    async def load(
        path: str,  # where it is
        *,
        strict: bool = True,
    ) -> View | None:
        try:
            with open_file(path) as file:
                data = json.load(file)
        except errors.NotFound as error:
            raise ViewError(path) from error
        if (size := len(data)) > MAX_NAME:
            return sorted(data, key=lambda row: row.rank())
        return View(data)

    class Meta:
        ordering = DEFAULT_ORDER


def show(view: View, /, depth: int = 0) -> str:
    global lower
    for index, part in enumerate(view.parts):
        np.asarray(part)
    return render(view)


if __name__ == "__main__":
    show(View.load(os.path.join("a", "b")))
"#;

pub(super) const SYMBOLS: &str = r#"
import __future__: annotations
import os.path
import numpy as np
import typing: TYPE_CHECKING, NamedTuple
import .declare: Name, ViewSpec as Spec
import ..shown: *
import .parts: Part
import json
import .late: Late
Constant MAX_NAME : int = 64
Constant TABLE
Type Point = collections.namedtuple("Point", "x y")
Type Views = list[View]
Class View (Base, models.Shown, metaclass=Meta)
  Constant LIMIT = 10
  Function __init__ (self, spec: Spec, *args, names=…, **kwargs) -> None
  Function title (self) -> str
  Function async load (path: str, *, strict: bool = True) -> View | None
  Class Meta
Function show (view: View, /, depth: int = 0) -> str
"#;
