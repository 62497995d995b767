"""Sweeps on a cluster of Ray.

Neighbouring cells make a task; their rows come back as bytes, and are merged where the sweep was
asked for. So the table is that of a local sweep, bit for bit, but for the times that runs took.
"""

from __future__ import annotations

import pathlib
import time

from ._legwork import RequestError

#: What a task should take at least, against the cost of sending it [s].
_LEAST = 1.0
#: How often a task is run again whose worker died.
_RETRIES = 3


def _run(diagram, axes, show, first, end):
    """The rows of some cells, and how long they took."""
    start = time.monotonic()
    return diagram._rows(axes, show, first, end, jobs=1), time.monotonic() - start


class _Parts:
    """Rows of cells, in memory and in a directory if there is one: FIRST-END.rows."""

    def __init__(self, directory, resume):
        self.rows = {}
        self.directory = directory and pathlib.Path(directory) / "parts"
        if self.directory is None:
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        for file in sorted(self.directory.glob("*.rows")):
            if resume:
                first, end = map(int, file.stem.split("-"))
                self.rows[first, end] = file.read_bytes()
            else:
                file.unlink()

    def add(self, first, end, rows):
        self.rows[first, end] = rows
        if self.directory is not None:
            file = self.directory / f"{first}-{end}.rows"
            beside = file.with_suffix(".part")
            beside.write_bytes(rows)
            beside.replace(file)

    def missing(self, count):
        """Runs of cells that are not there."""
        at = 0
        for first, end in sorted(self.rows) + [(count, count)]:
            if first > at:
                yield at, first
            at = max(at, end)


def sweep(diagram, axes, *, show, out, jobs, resume, progress):
    """The table of a sweep whose cells run on the cluster that Ray is connected to.

    ``jobs`` bounds the tasks at a time. With ``out`` the rows of every task are kept as it ends,
    and ``resume`` goes on from them. A task whose worker dies is run again; cells that fault are
    run again here, where their fault is told.
    """
    import ray

    if not ray.is_initialized():
        raise RequestError("connect to a cluster first: ray.init(), or ray.init(address=...)")
    count = 1
    for _, values in axes:
        count *= len(values)
    parts = _Parts(out, resume)
    task = ray.remote(num_cpus=1, max_retries=_RETRIES)(_run)
    shared = ray.put(diagram)
    most = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))

    waiting = list(reversed(list(parts.missing(count))))
    left = sum(end - first for first, end in waiting)
    running, seconds, cells = {}, 0.0, 0

    def start():
        # So many cells as take long enough; the last are dealt out to all workers.
        enough = _LEAST * cells / seconds if seconds > 0 else 1
        size = max(1, int(min(enough, -(-left // most))))
        first, end = waiting.pop()
        if end - first > size:
            waiting.append((first + size, end))
            end = first + size
        running[task.remote(shared, axes, show, first, end)] = (first, end)

    try:
        while waiting or running:
            while waiting and len(running) < most:
                start()
            ready, _ = ray.wait(list(running), timeout=0.1)
            for reference in ready:
                first, end = running.pop(reference)
                rows, took = ray.get(reference)
                parts.add(first, end, rows)
                seconds, cells = seconds + took, cells + end - first
                left -= end - first
            if progress is not None:
                progress(count - left, count)
    except BaseException:
        for reference in running:
            ray.cancel(reference, force=True)
        raise
    over = dict(axes)
    return diagram.sweep(over, show=show, jobs=jobs, merge=list(parts.rows.values()))
