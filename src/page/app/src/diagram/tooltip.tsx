// What a wire carries: path, type, unit, frame, rate, live value.

import { useEffect, useState } from "preact/hooks";
import * as app from "../app";
import type { PortInfo, SampleTime } from "../protocol";
import { labelOf } from "./rates";

export interface Tip {
  x: number;
  y: number;
  /** Size of what it lies in [px]. */
  width: number;
  height: number;
  path: string;
  block: string;
  port: string;
  type: string;
  to: string;
  time: SampleTime;
}

export function Tooltip({ tip }: { tip: Tip }) {
  const [info, setInfo] = useState<PortInfo | null>(null);
  useEffect(() => {
    let current = true;
    setInfo(null);
    app.follow("tip", [tip.path]);
    app.block(tip.block).then(
      (block) => {
        const port = block.outputs.find(({ name }) => name === tip.port);
        if (current) setInfo(port ?? null);
      },
      () => {},
    );
    return () => {
      current = false;
      app.follow("tip", []);
    };
  }, [tip.path, tip.block, tip.port]);
  const value = app.live.value ? app.values.value.get(tip.path) : app.replayed(tip.path);
  // A wire that takes a part of a signal has facts of its own.
  const own = app.facts.value.get(tip.path);
  const type = own?.type ?? (tip.type || info?.type || "");
  const unit = own ? own.unit : info?.unit;
  const frame = own ? own.frame : info?.frame;
  // On that side of the mouse where there is more room.
  const across = tip.x > tip.width / 2;
  const style = {
    [across ? "right" : "left"]: `${(across ? tip.width - tip.x : tip.x) + 14}px`,
    [tip.y > tip.height / 2 ? "bottom" : "top"]:
      `${(tip.y > tip.height / 2 ? tip.height - tip.y : tip.y) + 14}px`,
  };
  return (
    <div class="tip" role="tooltip" style={style}>
      <b>{tip.path}</b>
      {tip.to && <span class="faint">to {tip.to}</span>}
      <dl>
        {type && (
          <>
            <dt>type</dt>
            <dd>{type}</dd>
          </>
        )}
        {unit && (
          <>
            <dt>unit</dt>
            <dd>{unit}</dd>
          </>
        )}
        {frame && (
          <>
            <dt>frame</dt>
            <dd>{frame}</dd>
          </>
        )}
        <dt>rate</dt>
        <dd>{labelOf(tip.time)}</dd>
        {value && (
          <>
            <dt>value</dt>
            <dd class="value">{value}</dd>
          </>
        )}
      </dl>
      <span class="faint">click: add to the scope, with shift: to a new one</span>
    </div>
  );
}
