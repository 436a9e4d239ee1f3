"""Every figure that a snippet draws, whether or not it saves or shows it.

Matplotlib is hooked when it is there, or when it is first imported; a snippet that draws nothing pays for neither.
As in a notebook, `plt.show()` ends the figures that are open, so what is drawn next is another figure.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

from .picture import Picture, draw
from .stream import Stream

__all__ = ["Figures"]

_HOOKED = ("matplotlib.figure", "matplotlib.backend_bases", "matplotlib.pyplot")
_INTERACTIVE = ("inline", "notebook", "widget", "ipympl", "auto")


class _Seen:
    """A figure that was made, and as which."""

    def __init__(self, figure: Any, number: int) -> None:
        self.figure = figure
        self.number = number
        self.shown = False
        self.saved: list[str] = []


class Figures:
    """The figures of one process.

    Parameters
    ----------
    limit
        How many are kept; the rest are counted.
    apart
        Context in which drawing for us is not counted as the snippet's time.
    """

    def __init__(self, limit: int, apart: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        self.limit = limit
        self.total = 0
        self.made = 0
        self.on_show: Callable[[], None] | None = None
        self._apart = apart
        self._seen: dict[int, _Seen] = {}
        self._pictures: list[tuple[int, Picture]] = []
        self._original: dict[str, Any] = {}

    def watch(self) -> None:
        """Hook Matplotlib where it is loaded already, else when it is imported."""
        missing = [name for name in _HOOKED if name not in sys.modules]
        if missing:
            sys.meta_path.insert(0, _Finder(self._hook, set(missing)))
        for name in _HOOKED:
            if name in sys.modules:
                self._hook(name, sys.modules[name])

    def note(self, figure: Any) -> None:
        """Take a figure in that was made without pyplot, or is shown once more."""
        self._note(figure)

    def flush(self, stream: Stream, *, close: bool = True) -> None:
        """Draw what was made and not written yet, each once, and write it."""
        with contextlib.suppress(BaseException):
            self._note_open(close)
        waiting: list[tuple[int, Picture | _Seen]] = [*self._pictures]
        waiting += [(entry.number, entry) for entry in self._seen.values()]
        self._seen.clear()
        self._pictures.clear()
        written: set[tuple[bytes, ...]] = set()
        for _, item in sorted(waiting, key=lambda pair: pair[0]):
            picture = self._draw(item) if isinstance(item, _Seen) else item
            if picture is not None:
                self._write(picture, stream, written)

    def _write(self, picture: Picture, stream: Stream, written: set[tuple[bytes, ...]]) -> None:
        for note in picture.notes:
            stream.say(f"figure: {note}")
        same = tuple(content for _, content in picture.parts)
        if same in written:
            return
        written.add(same)
        self.total += 1
        if self.total > self.limit:
            if self.total == self.limit + 1:
                stream.say(f"more than {self.limit} figures: the rest are left out")
            return
        stream.put("figure", f"figure {self.total}", picture.parts, picture.facts)

    def _draw(self, entry: _Seen) -> Picture | None:
        savefig = self._original.get("savefig")
        if savefig is None:
            return None
        return draw(entry.figure, savefig, shown=entry.shown, saved=entry.saved)

    def _note(self, figure: Any) -> _Seen | None:
        known = self._seen.get(id(figure))
        # A reference keeps a closed figure, and its data, in memory: only as many as will be drawn.
        if known is None and len(self._seen) + len(self._pictures) <= self.limit:
            self.made += 1
            known = self._seen[id(figure)] = _Seen(figure, self.made)
        return known

    def _note_open(self, close: bool) -> None:
        helpers = sys.modules.get("matplotlib._pylab_helpers")
        if helpers is None:
            return
        for manager in helpers.Gcf.get_all_fig_managers():
            self._note(manager.canvas.figure)
        if close:
            helpers.Gcf.destroy_all()

    def _hook(self, name: str, module: Any) -> None:
        if name == "matplotlib.pyplot":
            self._hook_pyplot(module)
        elif name == "matplotlib.backend_bases":
            self._hook_manager(module.FigureManagerBase)
        else:
            self._hook_figure(module.Figure)

    def _hook_manager(self, manager: Any) -> None:
        start = manager.__init__

        def __init__(this: Any, canvas: Any, num: Any) -> None:  # noqa: N807
            start(this, canvas, num)
            self._note(canvas.figure)

        manager.__init__ = __init__

    def _hook_figure(self, figure_class: Any) -> None:
        savefig, clear = figure_class.savefig, figure_class.clear
        self._original["savefig"] = savefig

        def save(this: Any, fname: Any, **options: Any) -> Any:
            result = savefig(this, fname, **options)
            entry = self._note(this)
            if entry is not None and len(entry.saved) < 10:
                entry.saved.append(str(fname)[:200] if isinstance(fname, str) or hasattr(fname, "__fspath__") else "")
            return result

        def show(this: Any, warn: bool = True) -> None:
            entry = self._note(this)
            if entry is not None:
                entry.shown = True

        def wipe(this: Any, keep_observers: bool = False) -> Any:
            # What was finished (saved or shown) is drawn before it goes; what was not was never meant to be seen.
            entry = self._seen.get(id(this))
            if entry is not None and (entry.saved or entry.shown) and getattr(this, "axes", None):
                del self._seen[id(this)]
                with self._apart():
                    picture = self._draw(entry)
                if picture is not None:
                    self._pictures.append((entry.number, picture))
                self._note(this)
            return clear(this, keep_observers=keep_observers)

        for original, ours in ((savefig, save), (figure_class.show, show), (clear, wipe)):
            ours.__doc__, ours.__name__ = original.__doc__, original.__name__
            setattr(figure_class, original.__name__, ours)

    def _hook_pyplot(self, pyplot: Any) -> None:
        switch = pyplot.switch_backend

        def switch_backend(newbackend: Any) -> None:
            """Switch the backend; where that would need a window, Agg stands in."""
            switch("agg" if _needs_a_window(newbackend) else newbackend)

        def show(*args: Any, **options: Any) -> None:
            """Show the open figures, which ends them, as in a notebook."""
            for manager in pyplot._pylab_helpers.Gcf.get_all_fig_managers():
                entry = self._note(manager.canvas.figure)
                if entry is not None:
                    entry.shown = True
            pyplot.close("all")
            if self.on_show is not None:
                self.on_show()

        pyplot.switch_backend, pyplot.show = switch_backend, show


def _needs_a_window(name: Any) -> bool:
    from matplotlib.backends import registry  # noqa: PLC0415

    if not isinstance(name, str):
        return True  # matplotlib's own mark for "whatever works"
    windows: Any = registry.BackendFilter.INTERACTIVE
    known = [item.lower() for item in registry.backend_registry.list_builtin(windows)]  # type: ignore[no-untyped-call]
    return name.lower() in {*known, *_INTERACTIVE} or name.startswith("module://")


class _Finder:
    """Call back once a module of interest has been imported."""

    def __init__(self, callback: Callable[[str, Any], None], names: set[str]) -> None:
        self.callback = callback
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in self.names:
            return None
        self.names.discard(name)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self._wrap(spec)
        return spec

    def _wrap(self, spec: importlib.machinery.ModuleSpec) -> None:
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            self.callback(spec.name, module)

        loader.exec_module = exec_module
