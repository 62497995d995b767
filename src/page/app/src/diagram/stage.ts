// The canvas of the diagram. The sheet is painted on a hidden canvas that is larger than what is
// seen, so that panning is a copy; after zooming it is painted anew as soon as the wheel rests.

import * as app from "../app";
import type { Drawing } from "../protocol";
import { scopedPaths } from "../scopes/scopes";
import { css, dark } from "../ui/theme";
import { fit, type Hit, type View } from "./geometry";
import type { Ink, Painter, Size, Tint } from "./paint";
import * as sheet from "./sheet";

/** Part of the width and height that the hidden canvas has more at each side. */
const MARGIN = 0.35;
/** How long the wheel rests before the sheet is painted sharp again [ms]. */
const REST = 90;

export function inks(): Ink {
  return {
    dark: dark.value,
    sheet: css("--sheet"),
    frames: [css("--frame-1"), css("--frame-2"), css("--frame-3")],
    frameLine: css("--frame-line"),
    ink: css("--ink"),
    faint: css("--faint"),
    accent: css("--accent"),
    warn: css("--warn"),
  };
}

/** What moves, without going through the components. */
export class Stage {
  view: View = { x: 0, y: 0, scale: 1 };
  hover: Hit = null;
  painter: Painter | null = null;
  ink: Ink = inks();
  fitted = false;
  /** How often the sheet was painted, for those who measure. */
  paintings = 0;
  private due = 0;
  private rest = 0;
  private zoomed = -Infinity;
  private readonly hidden = document.createElement("canvas");
  private readonly hiddenContext = this.hidden.getContext("2d", { alpha: false })!;
  /** What the hidden canvas shows: by which view, of what. */
  private shown: { view: View; size: Size; key: string; painter: Painter } | null = null;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly context: CanvasRenderingContext2D,
  ) {}

  get drawing(): Drawing | null {
    return this.painter?.drawing ?? null;
  }

  request(): void {
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      this.paint();
    });
  }

  size(): Size {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return { width, height, ratio: devicePixelRatio || 1 };
  }

  fit(): void {
    const { width, height } = this.size();
    const frame = this.drawing?.frames[0];
    if (!frame || !width) return;
    this.view = fit(frame, width, height);
    this.fitted = true;
    this.request();
  }

  /** Moves so that a block is seen. */
  reveal(index: number): void {
    const rect = this.drawing?.symbols[index];
    if (!rect) return;
    const { width, height } = this.size();
    const scale = Math.max(this.view.scale, 0.7);
    const x = width / 2 - scale * (rect.x + rect.width / 2);
    const y = height / 2 - scale * (rect.y + rect.height / 2);
    const seen =
      this.view.x + this.view.scale * rect.x > 0 &&
      this.view.y + this.view.scale * rect.y > 0 &&
      this.view.x + this.view.scale * (rect.x + rect.width) < width &&
      this.view.y + this.view.scale * (rect.y + rect.height) < height;
    if (!seen || this.view.scale < 0.5) this.view = { x, y, scale };
    this.request();
  }

  private paint(): void {
    const size = this.size();
    const { width, height, ratio } = size;
    resize(this.canvas, width * ratio, height * ratio);
    const { context, painter, ink, view } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = ink.sheet;
    context.fillRect(0, 0, width, height);
    if (!painter || !width || !height) return;
    this.sheet(painter, size);
    if (this.shown) {
      // Where the hidden canvas lies in the present view.
      const by = view.scale / this.shown.view.scale;
      const x = view.x - by * this.shown.view.x;
      const y = view.y - by * this.shown.view.y;
      const { width: w, height: h } = this.shown.size;
      context.drawImage(this.hidden, x, y, by * w, by * h);
    }
    const selected = app.selection.value;
    painter.mark(context, view, size, ink, {
      hover: this.hover,
      selected: selected && selected.kind !== "wire" ? selected.path : null,
      present: app.present.value,
      scoped: scopedPaths.value,
      found: sheet.found.value,
      parted: sheet.parted.value,
    });
  }

  /** Paints the hidden canvas, if it no longer shows what it should. */
  private sheet(painter: Painter, size: Size): void {
    const tint: Tint = {
      off: app.off.value,
      loops: sheet.loops.value,
      heat: app.heat.value,
    };
    const heat = tint.heat ? [...tint.heat].join() : "";
    const key = `${this.ink.sheet} ${[...tint.off].join()} ${heat} ${size.ratio}`;
    const { shown, view } = this;
    const same = shown?.painter === painter && shown.key === key;
    if (same && shown.view.scale !== view.scale) {
      // While the wheel turns, what was painted is shown larger or smaller.
      const now = performance.now();
      if (this.zoomed === -Infinity) this.zoomed = now;
      clearTimeout(this.rest);
      if (now - this.zoomed < REST * 10) {
        this.rest = window.setTimeout(() => {
          this.shown = null;
          this.request();
        }, REST);
        return;
      }
    }
    if (same && shown.view.scale === view.scale && covers(shown.view, shown.size, view, size))
      return;
    this.zoomed = -Infinity;
    const [mx, my] = [Math.round(MARGIN * size.width), Math.round(MARGIN * size.height)];
    const larger = { ...size, width: size.width + 2 * mx, height: size.height + 2 * my };
    resize(this.hidden, larger.width * size.ratio, larger.height * size.ratio);
    const shifted = { ...view, x: view.x + mx, y: view.y + my };
    painter.paint(this.hiddenContext, shifted, larger, this.ink, tint);
    this.paintings++;
    this.shown = { view: shifted, size: larger, key, painter };
  }
}

/** Whether a canvas of one view holds all that another view of the same scale shows. */
function covers(one: View, size: Size, other: View, seen: Size): boolean {
  const [x, y] = [other.x - one.x, other.y - one.y];
  return x <= 0 && y <= 0 && x + size.width >= seen.width && y + size.height >= seen.height;
}

function resize(canvas: HTMLCanvasElement, width: number, height: number): void {
  const [w, h] = [Math.round(width), Math.round(height)];
  if (canvas.width === w && canvas.height === h) return;
  canvas.width = w;
  canvas.height = h;
}
