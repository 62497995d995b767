// Which frames are open.

import type { Drawing, DrawnSymbol } from "../protocol";

/** Most blocks that are shown at first; a larger diagram opens folded. */
export const MOST_AT_FIRST = 80;

/** Paths of the frames that a drawing shows open, parents first. */
export function openIn(drawing: Drawing): string[] {
  return drawing.schematic.frames.slice(1).map((frame) => frame.path);
}

/** Whether there is something inside of a symbol: of a box, or what a block calls. */
export function opens(symbol: DrawnSymbol): boolean {
  return symbol.role === "Folded" || symbol.calls;
}

/** The open frames after one is opened. */
export function opened(drawing: Drawing, path: string): string[] {
  const open = openIn(drawing);
  return open.includes(path) ? open : [...open, path];
}

/** The open frames after one is closed, with all that lie in it. */
export function closed(drawing: Drawing, path: string): string[] {
  const { frames } = drawing.schematic;
  const gone = new Set<number>();
  frames.forEach((frame, index) => {
    if (index > 0 && (frame.path === path || (frame.parent !== null && gone.has(frame.parent)))) {
      gone.add(index);
    }
  });
  return frames.filter((_, index) => index > 0 && !gone.has(index)).map((frame) => frame.path);
}

/** The frames to open so that a block shows: its path's prefixes that end before a dot. */
export function openedFor(drawing: Drawing, path: string): string[] {
  const open = new Set(openIn(drawing));
  for (let at = path.indexOf("."); at >= 0; at = path.indexOf(".", at + 1)) {
    open.add(path.slice(0, at));
    const bracket = path.slice(0, at).replace(/\[[^\]]*\]$/, "");
    open.add(bracket);
  }
  return [...open];
}
