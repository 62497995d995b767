"""What a sweep found, by column."""

from __future__ import annotations

import numpy as np


class Table(dict):
    """Columns by name, a row for each combination: arrays of numbers, lists of texts.

    ``units`` says the units of the columns that have one.
    """

    def __init__(self, columns, units):
        def column(entries):
            numbers = all(isinstance(entry, float) or entry is None for entry in entries)
            if not numbers:
                return entries
            return np.array([np.nan if entry is None else entry for entry in entries])

        super().__init__((name, column(entries)) for name, entries in columns.items())
        self.units = units

    def __reduce__(self):
        return (Table, ({name: list(c) for name, c in self.items()}, self.units))

    @property
    def rows(self) -> list[dict]:
        """A dictionary for each row."""
        count = len(next(iter(self.values()), ()))
        return [{name: column[i] for name, column in self.items()} for i in range(count)]

    def to_pandas(self):
        """A DataFrame."""
        import pandas

        return pandas.DataFrame(dict(self))

    def to_polars(self):
        """A DataFrame."""
        import polars

        return polars.DataFrame(dict(self))

    def _repr_html_(self):
        def cell(value):
            text = f"{value:.6g}" if isinstance(value, float) else str(value)
            return text.replace("&", "&amp;").replace("<", "&lt;")

        def heading(name):
            return cell(f"{name} [{self.units[name]}]" if name in self.units else name)

        head = "".join(f"<th>{heading(name)}</th>" for name in self)
        body = "".join(
            "<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row.values()) + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
