"""Progress, in a terminal and in a notebook."""

from __future__ import annotations

import sys


class Bar:
    """Shows how far something is: tqdm's bar where that is installed, else a line on stderr."""

    def __init__(self):
        self._tqdm = None
        self._shown = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._make = None
        else:
            self._make = tqdm

    def __call__(self, done, whole):
        if self._make is not None:
            if self._tqdm is None:
                self._tqdm = self._make(total=whole, unit="s" if isinstance(whole, float) else "")
            self._tqdm.update(done - self._tqdm.n)
            if done >= whole:
                self._tqdm.close()
            return
        percent = int(100 * done / whole) if whole else 100
        if percent != self._shown:
            self._shown = percent
            end = "\n" if percent >= 100 else ""
            sys.stderr.write(f"\r{percent:3d} %{end}")
            sys.stderr.flush()


def of(progress):
    """The callable for ``progress``: None, True, or a callable of done and whole."""
    if progress is None or progress is False:
        return None
    return Bar() if progress is True else progress
