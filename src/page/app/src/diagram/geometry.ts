// Where things are in a drawing: ways of wires, what lies under the mouse.

import type { Drawing, Point, Rect } from "../protocol";

/** Screen = scale · world + (x, y). */
export interface View {
  x: number;
  y: number;
  scale: number;
}

export const LEAST_SCALE = 0.05;
export const MOST_SCALE = 4;

/** Room at each side of a sheet, and for the legend below it [px]. */
const MARGIN = 16;
const LEGEND = 26;

export function fit(sheet: Rect, width: number, height: number): View {
  const [across, up] = [width - 2 * MARGIN, height - 2 * MARGIN - LEGEND];
  const wanted = Math.min(across / sheet.width, up / sheet.height, 1.25);
  const scale = Math.max(LEAST_SCALE, wanted);
  return {
    scale,
    x: (width - scale * sheet.width) / 2 - scale * sheet.x,
    y: (height - LEGEND - scale * sheet.height) / 2 - scale * sheet.y,
  };
}

/** Zooms about a point on the screen. */
export function zoom(view: View, factor: number, at: Point): View {
  const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, view.scale * factor));
  const by = scale / view.scale;
  return { scale, x: at[0] - by * (at[0] - view.x), y: at[1] - by * (at[1] - view.y) };
}

export function toWorld(view: View, [x, y]: Point): Point {
  return [(x - view.x) / view.scale, (y - view.y) / view.scale];
}

export type Hit =
  | { kind: "symbol"; index: number }
  | { kind: "output"; index: number; pin: number }
  | { kind: "input"; index: number; pin: number }
  | { kind: "wire"; index: number }
  | { kind: "frame"; index: number }
  | null;

const contains = (rect: Rect, [x, y]: Point) =>
  x >= rect.x && x <= rect.x + rect.width && y >= rect.y && y <= rect.y + rect.height;

/** Height of a frame's heading. */
export const HEADING = 26;

/** What lies at a point of the world; `reach` is how far from a wire still counts. */
export function hit(drawing: Drawing, at: Point, reach: number): Hit {
  for (let index = drawing.symbols.length - 1; index >= 0; index--) {
    const rect = drawing.symbols[index]!;
    if (!contains(rect, at)) continue;
    const near = (points: Point[]) => points.findIndex(([, y]) => Math.abs(y - at[1]) <= 6);
    const side = Math.min(36, rect.width / 3);
    if (drawing.schematic.symbols[index]!.role !== "Join") {
      const output = at[0] > rect.x + rect.width - side ? near(drawing.outputs[index]!) : -1;
      if (output >= 0) return { kind: "output", index, pin: output };
      const input = at[0] < rect.x + side ? near(drawing.inputs[index]!) : -1;
      if (input >= 0) return { kind: "input", index, pin: input };
    }
    return { kind: "symbol", index };
  }
  let best: Hit = null;
  let least = reach;
  drawing.wires.forEach((way, index) => {
    const away = distance(way, at, least);
    if (away < least) [least, best] = [away, { kind: "wire", index }];
  });
  if (best) return best;
  for (let index = drawing.frames.length - 1; index > 0; index--) {
    const rect = drawing.frames[index]!;
    if (contains({ ...rect, height: HEADING }, at)) return { kind: "frame", index };
  }
  return null;
}

/** Distance of a point from a way of horizontal and vertical pieces; no less than `most` if so. */
function distance(way: readonly Point[], [x, y]: Point, most: number): number {
  let least = most;
  for (let i = 0; i + 1 < way.length; i++) {
    const [[ax, ay], [bx, by]] = [way[i]!, way[i + 1]!];
    const dx = Math.max(Math.min(ax, bx) - x, 0, x - Math.max(ax, bx));
    const dy = Math.max(Math.min(ay, by) - y, 0, y - Math.max(ay, by));
    least = Math.min(least, Math.hypot(dx, dy));
  }
  return least;
}

/** The path of what a wire reads, as a scope takes it. */
export function pathOfWire(drawing: Drawing, index: number): string {
  const wire = drawing.schematic.wires[index]!;
  const symbol = drawing.schematic.symbols[wire.from.symbol]!;
  const output = symbol.outputs[wire.from.pin];
  if (symbol.role === "Join") {
    // A bar has no path: what it joins is seen at its reader.
    const reader = drawing.schematic.symbols[wire.to.symbol]!;
    return `${reader.path}.${reader.inputs[wire.to.pin] ?? ""}`;
  }
  return pathOfOutput(symbol.path, output?.name ?? "") + wire.part;
}

export function pathOfOutput(block: string, port: string): string {
  return port ? `${block}.${port}` : block;
}

/** Junctions of a net: points where three or four of its pieces meet. */
export function junctions(ways: readonly (readonly Point[])[]): Point[] {
  const corners = new Map<string, Point>();
  for (const way of ways) for (const point of way) corners.set(point.join(), point);
  return [...corners.values()].filter(([x, y]) => {
    const sides = [false, false, false, false];
    for (const way of ways) {
      for (let i = 0; i + 1 < way.length; i++) {
        const [[ax, ay], [bx, by]] = [way[i]!, way[i + 1]!];
        const [x0, x1] = [Math.min(ax, bx), Math.max(ax, bx)];
        const [y0, y1] = [Math.min(ay, by), Math.max(ay, by)];
        if (y0 === y1 && y === y0) {
          sides[0] ||= x0 < x && x <= x1;
          sides[1] ||= x0 <= x && x < x1;
        } else if (x0 === x1 && x === x0) {
          sides[2] ||= y0 < y && y <= y1;
          sides[3] ||= y0 <= y && y < y1;
        }
      }
    }
    return sides.filter(Boolean).length > 2;
  });
}

const CORNER = 4;

/** Adds a way with rounded corners, except where it branches. */
export function trace(path: Path2D, way: readonly Point[], sharp: ReadonlySet<string>): void {
  way.forEach(([x, y], i) => {
    const [before, after] = [way[i - 1], way[i + 1]];
    if (!before) path.moveTo(x, y);
    else if (!after || sharp.has(`${x},${y}`)) path.lineTo(x, y);
    else {
      const towards = ([bx, by]: Point): Point => {
        const step = (d: number) => Math.sign(d) * Math.min(CORNER, Math.abs(d) / 2);
        return [x + step(bx - x), y + step(by - y)];
      };
      path.lineTo(...towards(before));
      path.quadraticCurveTo(x, y, ...towards(after));
    }
  });
}

/** The nearest symbol from `index` in a direction, for the arrow keys. */
export function neighbour(drawing: Drawing, index: number, dx: number, dy: number): number {
  const centre = (rect: Rect): Point => [rect.x + rect.width / 2, rect.y + rect.height / 2];
  const from = centre(drawing.symbols[index]!);
  let [best, least] = [index, Infinity];
  drawing.symbols.forEach((rect, other) => {
    if (other === index || drawing.schematic.symbols[other]!.role === "Join") return;
    const to = centre(rect);
    const along = (to[0] - from[0]) * dx + (to[1] - from[1]) * dy;
    const across = Math.abs((to[0] - from[0]) * dy) + Math.abs((to[1] - from[1]) * dx);
    if (along <= 1 || across > 3 * along) return;
    const cost = along + 2 * across;
    if (cost < least) [best, least] = [other, cost];
  });
  return best;
}
