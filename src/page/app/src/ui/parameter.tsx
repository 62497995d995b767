// A parameter: a field with its unit, and a slider.

import { useRef, useState } from "preact/hooks";
import * as app from "../app";
import type { Parameter } from "../protocol";

export const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** The ends of a slider: those of the parameter, or a decade around its value. */
function ends({ min, max }: Parameter, value: number): [number, number] {
  const size = Math.abs(value) || 1;
  return [min ?? (value < 0 ? -3 * size : 0), max ?? 3 * size];
}

/**
 * What is typed over a value, until the value is another one. An effect that sets the text when
 * the value changes would come after the first letters, and take them away.
 */
export function useDraft(value: string): [string, (text: string) => void] {
  const draft = useRef({ over: value, text: value });
  const [, draw] = useState({});
  if (draft.current.over !== value) draft.current = { over: value, text: value };
  const set = (text: string) => {
    draft.current = { over: value, text };
    draw({});
  };
  return [draft.current.text, set];
}

export function ParameterField({
  parameter,
  changed,
}: {
  parameter: Parameter;
  changed: () => void;
}) {
  const { path, name, value, unit, doc, tunable } = parameter;
  const { why = "it shapes the program: change it in the text, or by a fork" } = parameter;
  const [text, setText] = useDraft(value);
  const [range, setRange] = useState<[number, number]>(() => ends(parameter, Number(value)));
  const numeric = NUMBER.test(value.trim());
  const id = `parameter-${path}`;
  const set = async (to: string) => {
    if (to.trim() === value) return;
    const plain = NUMBER.test(to.trim()) && unit !== "" && unit !== "1";
    const written = plain ? `${to.trim()} ${unit}` : to.trim();
    if (await app.line(`set ${path} ${written}`)) changed();
    else setText(value);
  };
  const frozen = !tunable || !app.live.value;
  return (
    <div class="parameter">
      <label for={id} title={`${path}\n${doc}`}>
        {name}
      </label>
      <input
        id={id}
        class="num"
        value={text}
        disabled={frozen}
        title={tunable ? doc : why}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => void set(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") void set(event.currentTarget.value);
          if (event.key === "Escape") setText(value);
        }}
      />
      <span class="faint unit">{unit === "1" ? "" : unit}</span>
      {numeric && !frozen && (
        <input
          type="range"
          aria-label={`${name}, slider`}
          min={range[0]}
          max={range[1]}
          step={(range[1] - range[0]) / 300}
          value={Number(text) || 0}
          onInput={(event) =>
            setText(String(Number(event.currentTarget.valueAsNumber.toPrecision(4))))
          }
          onChange={(event) => {
            const to = Number(event.currentTarget.valueAsNumber.toPrecision(4));
            void set(String(to));
            if (to >= range[1]) setRange(ends(parameter, to));
          }}
        />
      )}
    </div>
  );
}
