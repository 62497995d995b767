// What colours and lines of the diagram mean; only what occurs.

import * as app from "../app";
import type { Drawn, Flow } from "../protocol";
import { number } from "../ui/format";
import { dark } from "../ui/theme";
import { colourOf, labelOf } from "./rates";
import * as sheet from "./sheet";

const FLOWS: [Flow, string, string][] = [
  ["Through", "feeds through", ""],
  ["State", "into state", "6 4"],
  ["Control", "switches", "1.5 2.5"],
];

export function Legend({ drawn }: { drawn: Drawn | null }) {
  if (!drawn) return null;
  const { symbols, wires } = drawn.drawing.schematic;
  const times = new Map(
    symbols.filter((s) => s.role !== "Join").map((s) => [labelOf(s.sample_time), s.sample_time]),
  );
  const rank = (label: string) =>
    label === "constant" ? -2 : label === "continuous" ? -1 : sheet.periods.value.indexOf(label);
  const sorted = [...times].sort(([a], [b]) => rank(a) - rank(b));
  const bus = wires.some((wire) => symbols[wire.from.symbol]?.outputs[wire.from.pin]?.bus);
  const hottest = Math.max(0, ...(app.heat.value?.values() ?? []));
  const off = app.off.value.size;
  return (
    <ul class="legend" aria-label="Legend">
      {sorted.map(([label, time]) => {
        const { line, fill } = colourOf(time, sheet.periods.value, dark.value);
        return (
          <li key={label}>
            <i class="box" style={{ borderColor: line, background: fill }} />
            {label}
          </li>
        );
      })}
      {FLOWS.filter(([flow]) => wires.some((wire) => wire.flow === flow)).map(
        ([flow, label, dash]) => (
          <li key={flow}>
            <svg width="24" height="8" aria-hidden="true">
              <path d="M0 4H24" stroke="currentColor" stroke-width="1.3" stroke-dasharray={dash} />
            </svg>
            {label}
          </li>
        ),
      )}
      {bus && (
        <li>
          <svg width="24" height="8" aria-hidden="true">
            <path d="M0 4H24" stroke="currentColor" stroke-width="2.4" />
          </svg>
          bus or array
        </li>
      )}
      {sheet.loops.value.size > 0 && <li class="warn">○ algebraic loop</li>}
      {hottest > 0 && (
        <li>
          <i class="heat" /> time per step, up to {number(hottest, 3)} µs
        </li>
      )}
      {off > 0 && <li class="faint">dim: off</li>}
    </ul>
  );
}
