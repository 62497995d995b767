"""Writes the grounds of gaits.ron, stairs.csv and obstacles.csv, and of mpc.ron, stairs_5.csv.

Stairs: from 0.8 m on, six steps of 3 cm (5 cm in stairs_5.csv) up, each 30 cm long, a landing of 60 cm, six steps down.
Obstacles: from 0.6 m on, 60 bricks of 12 x 12 cm and 1 to 3 cm, where splitmix64 of the seed 1 puts
them, on 6 x 1.2 m. Both rise within one cell.
"""

import pathlib

FOLDER = pathlib.Path(__file__).parent


def write(name, text, rows):
    lines = [",".join(f"{height:g}" for height in row) for row in rows]
    (FOLDER / name).write_text(f"# {text}, m. Written by terrain.py.\n" + "\n".join(lines) + "\n")


def stairs(x, rise):
    up = sum(x >= 0.8 + 0.3 * step for step in range(6))
    down = sum(x >= 3.2 + 0.3 * step for step in range(6))
    return rise * (up - down)


def uniform(seed):
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        yield ((z ^ z >> 31) >> 11) / 2**53


# Cells of 2 cm from x = -1 m; the same along y.
for name, rise in [("stairs.csv", 0.03), ("stairs_5.csv", 0.05)]:
    row = [stairs(-1 + 0.02 * i + 1e-9, rise) for i in range(351)]
    write(name, "Stairs: cells of 2 cm", [row, row, row])

# Cells of 4 cm from x = -1 m, y = -0.6 m.
numbers = uniform(1)
field = [[0.0] * 191 for _ in range(31)]
for _ in range(60):
    i, j = 40 + int(148 * next(numbers)), int(28 * next(numbers))
    height = round(0.01 + 0.02 * next(numbers), 3)
    for y in range(j, j + 3):
        for x in range(i, i + 3):
            field[y][x] = max(field[y][x], height)
write("obstacles.csv", "Scattered bricks: cells of 4 cm", field)
