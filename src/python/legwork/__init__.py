"""Legwork: block diagrams of robots that touch the ground.

>>> import legwork
>>> stand = legwork.open("demo:stand", set={"pd.kp": 60}, until=0.2)
>>> rec = stand.run()
>>> height = rec["body.state.base.position"][:, 2]
>>> height.unit, bool(0.25 < height[-1] < 0.3)
('m', True)

A :class:`Diagram` is opened and compiled by :func:`open`, or from text by :func:`parse`. It is run
to a :class:`Recording`, stepped forth and back by a :class:`Session`, stepped in many copies by a
:class:`Batch`, swept to a :class:`Table`. Errors are exceptions under :class:`Error`.

Values that a diagram takes may be texts of its language (``"3 N"``, ``"=2*m"``), numbers, truth
values, lists, and arrays of NumPy. Results are those of the command ``legwork``, bit for bit.
"""

from __future__ import annotations

from . import _legwork, _progress
from ._legwork import (
    Batch,
    Diagram,
    DiagramError,
    Error,
    Fault,
    InputError,
    OutputError,
    Recording,
    RequestError,
    Session,
    __version__,
    check,
    demos,
    load,
    open,
    parse,
)
from ._legwork import compare_recordings as compare
from ._block import block
from ._signal import Picture, Signal
from ._table import Table

__all__ = [
    "Batch",
    "Diagram",
    "DiagramError",
    "Error",
    "Fault",
    "InputError",
    "OutputError",
    "Picture",
    "Recording",
    "RequestError",
    "Session",
    "Signal",
    "Table",
    "__version__",
    "block",
    "check",
    "compare",
    "demos",
    "load",
    "open",
    "parse",
]
