"""Recorded numbers with their times, unit and names."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _legwork


class Picture:
    """A drawing that a notebook shows and that is written as SVG."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path) -> None:
        """Write it to a file, ``x.svg``."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


class Signal(np.ndarray):
    """An array that knows what it is an array of.

    It is an ``ndarray`` in every way: rows are times, columns the elements. Besides there are

    - ``t``: the time of each row [s]; of a signal of a session the time that it was read at,
    - ``unit``: its unit, or None,
    - ``names``: what the columns are called, such as the names of joints,
    - ``path``: its path in the diagram.

    A part that is cut out of it along the first axis, ``s[10:20]``, keeps its times; along the
    second, ``s[:, 2]``, its name. What is computed from it is a plain array.
    """

    t: Any
    unit: str | None
    names: list[str]
    path: str

    def __new__(cls, values, t, unit=None, names=(), path=""):
        signal = np.asarray(values).view(cls)
        signal.t, signal.unit, signal.names, signal.path = t, unit, list(names), path
        return signal

    def __array_finalize__(self, other):
        self.t = getattr(other, "t", None)
        self.unit = getattr(other, "unit", None)
        self.names = getattr(other, "names", [])
        self.path = getattr(other, "path", "")

    def __array_wrap__(self, array, context=None, return_scalar=False):
        plain = np.asarray(array)
        return plain[()] if return_scalar or plain.ndim == 0 else plain

    def __getitem__(self, index):
        part = super().__getitem__(index)
        if not isinstance(part, Signal):
            return part
        rows, *rest = index if isinstance(index, tuple) else (index,)
        if rows is Ellipsis or rows is None:
            return np.asarray(part)
        if isinstance(self.t, np.ndarray):
            part.t = self.t[rows]
        if rest and self.names and len(rest) == 1:
            names = np.asarray(self.names, dtype=object)[rest[0]]
            part.names = names.tolist() if isinstance(names, np.ndarray) else [names]
        return part

    def __reduce__(self):
        state = (np.asarray(self), self.t, self.unit, self.names, self.path)
        return (Signal, state)

    def __repr__(self):
        unit = f" [{self.unit}]" if self.unit else ""
        return f"<{self.path}{unit} {np.array2string(np.asarray(self), threshold=8)}>"

    @property
    def label(self) -> str:
        """Path and unit, for an axis."""
        return f"{self.path} [{self.unit}]" if self.unit else self.path

    def plot(self, ax=None, **options):
        """Draw it over time: by matplotlib, which gives back the axes, or a :class:`Picture` by
        Legwork itself if matplotlib is not installed. ``ax`` and options are matplotlib's."""
        try:
            from matplotlib import pyplot
        except ImportError:
            if ax is not None or options:
                raise
            return self._picture()
        ax = ax or pyplot.gca()
        lines = ax.plot(self.t, np.asarray(self).reshape(len(self.t), -1), **options)
        if len(lines) > 1 and len(self.names) == len(lines):
            for line, name in zip(lines, self.names):
                line.set_label(name)
            ax.legend()
        ax.set_xlabel("t [s]")
        ax.set_ylabel(self.label)
        return ax

    def _picture(self) -> Picture:
        values = np.asarray(self).reshape(len(self.t), -1)
        names = self.names if len(self.names) == values.shape[1] else range(values.shape[1])
        names = [str(name).replace('"', "'") for name in names]
        rows = [",".join(["t [s]", *(f'"{name}"' for name in names)])]
        rows += (",".join(map(repr, row)) for row in np.column_stack([self.t, values]).tolist())
        unit = f"[{self.unit}]" if self.unit else ""
        return Picture(_legwork.plot_table("\n".join(rows), self.path, unit))

    def to_pandas(self):
        """A DataFrame over time, a column for each name."""
        import pandas

        columns = self.names if self.ndim > 1 else [self.path]
        values = np.asarray(self).reshape(len(self.t), -1)
        return pandas.DataFrame(values, index=pandas.Index(self.t, name="t"), columns=columns)

    def to_polars(self):
        """A DataFrame with the column ``t`` in front, and a column for each name."""
        import polars

        columns = self.names if self.ndim > 1 else [self.path]
        values = np.asarray(self).reshape(len(self.t), -1)
        return polars.DataFrame({"t": self.t} | dict(zip(columns, values.T)))

    def to_xarray(self):
        """A DataArray with the coordinate ``t``, and ``element`` where it has several."""
        import xarray

        coordinates = {"t": np.asarray(self.t)}
        values = np.asarray(self).reshape(len(self.t), -1) if self.ndim > 1 else np.asarray(self)
        dims = ["t"]
        if self.ndim > 1:
            dims.append("element")
            coordinates["element"] = self.names
        attributes = {"units": self.unit} if self.unit else {}
        return xarray.DataArray(values, coordinates, dims, name=self.path, attrs=attributes)
