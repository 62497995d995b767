// Panes with a bar between them that is dragged, or moved by the arrow keys.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

const LEAST = 0.12;
const STEP = 0.03;

function stored(name: string, otherwise: number): number {
  try {
    const value = Number(localStorage.getItem(`legwork-pane-${name}`));
    return value >= LEAST && value <= 1 - LEAST ? value : otherwise;
  } catch {
    return otherwise;
  }
}

export function Split(props: {
  name: string;
  vertical?: boolean;
  start: number;
  label: string;
  children: [ComponentChildren, ComponentChildren];
}) {
  const { name, vertical = false, label, children } = props;
  const host = useRef<HTMLDivElement>(null);
  const [part, setPart] = useState(() => stored(name, props.start));
  const [dragged, setDragged] = useState(false);
  const set = (to: number) => {
    const next = Math.min(1 - LEAST, Math.max(LEAST, to));
    setPart(next);
    try {
      localStorage.setItem(`legwork-pane-${name}`, String(next));
    } catch {
      // Without storage the size lasts as long as the page.
    }
  };
  const drag = (event: PointerEvent) => {
    const box = host.current?.getBoundingClientRect();
    if (!dragged || !box) return;
    set(vertical ? (event.clientY - box.top) / box.height : (event.clientX - box.left) / box.width);
  };
  const key = (event: KeyboardEvent) => {
    const less = vertical ? "ArrowUp" : "ArrowLeft";
    const more = vertical ? "ArrowDown" : "ArrowRight";
    if (event.key !== less && event.key !== more) return;
    event.preventDefault();
    event.stopPropagation();
    set(part + (event.key === more ? STEP : -STEP));
  };
  const tracks = `minmax(0, ${part}fr) 5px minmax(0, ${1 - part}fr)`;
  return (
    <div
      ref={host}
      class={`split ${vertical ? "rows" : "columns"}`}
      style={vertical ? { gridTemplateRows: tracks } : { gridTemplateColumns: tracks }}
    >
      {children[0]}
      <div
        class={`bar${dragged ? " dragged" : ""}`}
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation={vertical ? "horizontal" : "vertical"}
        aria-valuenow={Math.round(100 * part)}
        aria-valuemin={Math.round(100 * LEAST)}
        aria-valuemax={Math.round(100 - 100 * LEAST)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDragged(true);
        }}
        onPointerMove={drag}
        onPointerUp={() => setDragged(false)}
        onPointerCancel={() => setDragged(false)}
        onDblClick={() => set(props.start)}
        onKeyDown={key}
      />
      {children[1]}
    </div>
  );
}
