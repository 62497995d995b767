#!/usr/bin/env python3
"""Repeats the tables of READMEs of `diagrams/` and compares them with the figures printed there.

usage: benches/tables.py [--legwork BINARY] [--only NAME].. [--write]

Exit status 1 if a cell differs; each is printed with its row and column. BINARY is a release build,
by default that of the checkout. `--only` selects a table, `--write` rewrites cells.

A table is computed from its recipe, a comment of the README above it:

    <!-- table: NAME
    like: OTHER                     the recipe of another table first
    runs: OTHER, ..                 the runs of other tables, besides its own
    row N, .. (TOLERANCE %): TEMPLATE @ AXES
    column N, .. (TOLERANCE %): TEMPLATE @ AXES
    # comment
    -->

Its own runs are those of the lines `legwork sweep ..` in the code that precedes the recipe in its
section. Lines `NAME=VALUE` in code define `$NAME`.

N counts rows below the header and columns from 1. AXES, as in `mu=1,100; controller=pid`, select
runs: by an axis, by what --set and --variant fix, by the name of the `diagram`, of the patch
(`with`) or of the `table` that has the runs. An empty value selects runs without the axis. Several
values are as many rows or columns, from the N-th on; the first axis changes slowest.

A cell is computed if a row and a column cover it and one of them has a template; that of the row
has priority. It shows the runs that both select. Fields of a template are

    {metric:.3f}, {metric*100:.2g}  a metric, a shown signal or `sim_time_s`: its mean over the runs
    {median metric:.3f}             or their min, median, max or sum
    {metric//0.5:low|high}          the text at index metric // 0.5; the last one for larger indices

Empty cells stay empty. Numbers may differ by one unit of their last digit or by the larger
TOLERANCE of row and column; the remaining text must be equal.

Not covered:

- times, which depend on the machine: table 1 and times per step of the constraint solver;
- its table 2: the difference of a run from a reference run is not a column of a sweep;
- its paper's programs: bounds, which tests assert;
- inverse dynamics, verdicts by the paper's table 6: words, which the diagrams' checks assert;
- its arm at a friction of 100: numbers of spikes, over decades, of runs that differ by rounding;
- the way of its biped: a difference of two columns.
"""
import argparse, dataclasses, functools, itertools, json, re, shlex, string, subprocess, sys
from pathlib import Path
from statistics import fmean, median

ROOT = Path(__file__).resolve().parent.parent
READMES = ["diagrams/inverse_dynamics/README.md", "diagrams/constraint_solver/README.md"]
NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
AGGREGATES = {"mean": fmean, "median": median, "min": min, "max": max, "sum": sum}


@dataclasses.dataclass
class Table:
    """A table of a README; `first_row` is the line below its header."""

    name: str
    recipe: list[str]
    first_row: int
    commands: list[str]
    variables: dict[str, str]

    def lines(self, kind, tables):
        """Recipe lines of a kind, as pairs of what precedes and follows the colon."""
        for line in self.recipe:
            head, _, rest = line.partition(":")
            if head == "like":
                yield from tables[rest.strip()].lines(kind, tables)
            elif head.split(" ")[0] == kind:
                yield head, string.Template(rest.strip()).safe_substitute(self.variables)

    def ranges(self, kind, tables):
        """Template, values of axes and tolerance of rows or columns, by number."""
        found = {}
        for head, rest in self.lines(kind, tables):
            numbers, percent = re.fullmatch(kind + r" ([\d, ]+?)(?: \((.+) %\))?", head).groups()
            template, _, axes = rest.partition("@")
            starts = [int(number) for number in numbers.split(",")]
            for i, values in ((k + i, v) for k in starts for i, v in enumerate(product(axes))):
                # Later lines add to earlier ones.
                before, keys, tolerance = found.get(i, ("", {}, 0.0))
                tolerance = float(percent) / 100 if percent else tolerance
                found[i] = template.strip() or before, keys | values, tolerance
        return found


def product(axes):
    """Combinations of `name=value,value; name=value`, each as a dictionary."""
    values = dict(axis.strip().split("=", 1) for axis in axes.split(";") if axis.strip())
    listed = (each.split(",") for each in values.values())
    return [dict(zip(values, combination)) for combination in itertools.product(*listed)]


def read_tables(lines):
    """Tables that have a recipe, by name."""
    tables, commands, variables = {}, [], {}
    is_fenced = is_after_code = False
    for at, line in enumerate(lines):
        is_fenced ^= line.lstrip().startswith("```")
        if is_fenced or line.startswith("    "):
            if not is_after_code:
                commands = []
            is_after_code = True
            if found := re.fullmatch(r"(\w+)=(\S+)", line.strip()):
                variables[found[1]] = found[2]
            if line.lstrip().startswith("legwork sweep "):
                commands.append(string.Template(line.strip()).safe_substitute(variables))
        elif found := re.fullmatch(r"<!-- table: (\w+)", line):
            end = lines.index("-->", at)
            header = next(i for i in range(end, len(lines)) if lines[i].startswith("|"))
            recipe = lines[at + 1 : end]
            tables[found[1]] = Table(found[1], recipe, header + 2, commands, dict(variables))
            commands = []
        elif line:
            is_after_code = False
            if line.startswith("#"):
                commands = []
    return tables


@functools.cache
def sweep(command, legwork):
    """Runs of a sweep, each as the keys that select it and its figures."""
    arguments = shlex.split(command)[1:]
    print(f"$ {command}", file=sys.stderr)
    done = subprocess.run([legwork, *arguments, "--json"], capture_output=True, text=True, cwd=ROOT)
    if done.returncode not in (0, 2, 3):  # 2: a run stopped at a fault, 3: a check failed
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stderr}")
    fixed = {"diagram": Path(arguments[1]).stem}
    for option, value in itertools.pairwise(arguments):
        if option in ("--set", "--variant"):
            fixed |= [value.split("=", 1)]
        elif option == "--with":
            fixed["with"] = Path(value).stem
    cells = json.loads(done.stdout)["cells"]
    return [(fixed | cell["values"], cell | cell["metrics"] | cell["shown"]) for cell in cells]


def runs_of(table, tables, legwork):
    """Runs of a table: its own and those that its recipe names."""
    found = [run for command in table.commands for run in sweep(command, legwork)]
    for _, names in table.lines("runs", tables):
        for name in names.replace(" ", "").split(","):
            others = runs_of(tables[name], tables, legwork)
            found += [(keys | {"table": name}, figures) for keys, figures in others]
    return found


def fill(template, runs):
    """Text of a cell."""

    def field(found):
        name, spec = found.groups()
        aggregate, name, operator, operand = re.fullmatch(
            r"(?:(mean|median|min|max|sum) )?(.+?)(?:(\*|//)(" + NUMBER + "))?", name
        ).groups()
        values = [figures[name] for _, figures in runs]
        factor = float(operand or 1)
        values = [value // factor if operator == "//" else value * factor for value in values]
        value, choices = AGGREGATES[aggregate or "mean"](values), spec.split("|")
        if len(choices) > 1:
            return choices[min(int(value), len(choices) - 1)]
        text = format(value, spec).rstrip(".")
        return f"{float(text):.0f}" if "e+" in text else text.replace("e-0", "e-")

    while (after := re.sub(r"\{([^{}]+):([^{}:]*)\}", field, template)) != template:
        template = after
    return template


def agree(stated, measured, tolerance):
    """True if numbers agree within the tolerance, and the text around them exactly."""
    if re.split(NUMBER, stated) != re.split(NUMBER, measured):
        return False
    for one, other in zip(re.findall(NUMBER, stated), re.findall(NUMBER, measured)):
        mantissa, _, exponent = one.partition("e")
        unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        if abs(float(one) - float(other)) > max(1.01 * unit, tolerance * abs(float(other))):
            return False
    return True


def compare(table, lines, tables, legwork, write):
    """Prints cells that differ; returns the number of computed cells and of these."""
    runs = runs_of(table, tables, legwork)
    header = split(lines[table.first_row - 2])
    columns, count, different = table.ranges("column", tables), 0, 0
    for i, (row_template, row_keys, row_tolerance) in table.ranges("row", tables).items():
        at = table.first_row + i - 1
        cells = split(lines[at])
        if len(cells) != len(header):
            sys.exit(f"{table.name}: row {i} and the header have different numbers of cells")
        for column, (template, keys, tolerance) in columns.items():
            template, stated = row_template or template, cells[column].strip()
            if not template or not stated:
                continue
            row_name, column_name = cells[1].strip(), header[column].strip()
            where = f"{table.name}: row {i} ({row_name}), column {column} ({column_name})"
            chosen = (row_keys | keys).items()
            selected = [run for run in runs if all(run[0].get(k, "") == v for k, v in chosen)]
            if not selected:
                sys.exit(f"{where}: no run has {dict(chosen)}")
            measured = fill(template, selected)
            tolerance = max(tolerance, row_tolerance)
            count += 1
            if not agree(stated, measured, tolerance):
                different += 1
                print(f"{where}: stated {stated}, measured {measured}, tolerance {tolerance:.0%}")
            if write:
                cells[column] = f" {measured} "
        lines[at] = "|".join(cells)
    return count, different


def split(line):
    """Cells of a line; the text outside of the outer bars is first and last."""
    return re.split(r"(?<!\\)\|", line)


def main():
    verbatim = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=verbatim)
    parser.add_argument("--legwork", default=ROOT / "target/release/legwork", type=Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    legwork, names, total = options.legwork.resolve(), [], 0
    for readme in READMES:
        text = (ROOT / readme).read_text(encoding="utf-8")
        lines = text.split("\n")
        tables = read_tables(lines)
        names += tables
        for name, table in tables.items():
            if not options.only or name in options.only:
                count, different = compare(table, lines, tables, legwork, options.write)
                print(f"{readme}: {name}: {count} cells, {different} differ")
                total += different
        if "\n".join(lines) != text:
            (ROOT / readme).write_text("\n".join(lines), encoding="utf-8")
    if unknown := set(options.only) - set(names):
        sys.exit(f"no table {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    sys.exit(1 if total and not options.write else 0)


if __name__ == "__main__":
    main()
