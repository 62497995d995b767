// Parameters, inputs and variants of the whole diagram.

import { useEffect, useState } from "preact/hooks";
import * as app from "../app";
import type { Choices, Input } from "../protocol";
import { NUMBER, ParameterField, useDraft } from "../ui/parameter";
import { forking, proposed } from "./fork";

export function Parameters() {
  const [choices, setChoices] = useState<Choices | null>(null);
  const [error, setError] = useState("");
  const [count, setCount] = useState(0);
  useEffect(() => {
    let current = true;
    app.choices().then(
      (answer) => current && (setChoices(answer), setError("")),
      (problem: unknown) => current && setError(app.messageOf(problem)),
    );
    return () => {
      current = false;
    };
    // An input shows its present value.
  }, [app.models.value, app.focus.value, count, app.state.value?.running ? 0 : app.state.value?.t]);
  const again = () => setCount((n) => n + 1);
  if (!choices) return <p class="empty">{error}</p>;
  const { variants, inputs = [], parameters } = choices;
  const edits = app.state.value?.edits ?? [];
  return (
    <section class="choices" aria-label="Parameters, inputs and variants">
      {parameters.length > 0 && (
        <div>
          <h3>Parameters of the diagram</h3>
          <div class="parameters">
            {parameters.map((parameter) => (
              <ParameterField key={parameter.path} parameter={parameter} changed={again} />
            ))}
          </div>
        </div>
      )}
      {inputs.length > 0 && (
        <div>
          <h3>Inputs</h3>
          <div class="parameters">
            {inputs.map((input) => (
              <InputField key={input.name} input={input} changed={again} />
            ))}
          </div>
        </div>
      )}
      {variants.length > 0 && (
        <div>
          <h3>Variants</h3>
          <p class="faint">Another choice is a fork from here.</p>
          {variants.map(({ name, choices: names, chosen }) => (
            <label key={name} class="row">
              <span>{name}</span>
              <select
                value={chosen ?? ""}
                disabled={!app.live.value}
                onChange={(event) => {
                  proposed.value = { [name]: event.currentTarget.value };
                  event.currentTarget.value = chosen ?? "";
                  forking.value = true;
                }}
              >
                {names.map((choice) => (
                  <option key={choice} value={choice}>
                    {choice}
                  </option>
                ))}
              </select>
            </label>
          ))}
        </div>
      )}
      {edits.length > 0 && (
        <div>
          <h3>Changed since the start; a run with these edits repeats it</h3>
          <ul>
            {edits.map(({ path, value, t, text }, i) => (
              <li key={i} class="num">
                {text ? "the text of " : ""}
                <code>{path}</code>
                {text ? "" : ` = ${value}`} <span class="faint">from t = {t} on</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {parameters.length + inputs.length + variants.length === 0 && (
        <p class="faint">This diagram has none; those of a block stand beside it.</p>
      )}
    </section>
  );
}

function InputField({ input, changed }: { input: Input; changed: () => void }) {
  const { name, unit = "", value = "", tunable = true } = input;
  const [text, setText] = useDraft(value);
  const id = `input-${name}`;
  const set = async () => {
    const to = text.trim();
    if (!to || to === value) return;
    const written = NUMBER.test(to) && unit && unit !== "1" ? `${to} ${unit}` : to;
    if (await app.line(`input ${name} = ${written}`)) changed();
    else setText(value);
  };
  return (
    <div class="parameter">
      <label for={id}>{name}</label>
      <input
        id={id}
        class="num"
        value={text}
        disabled={!tunable || !app.live.value}
        title={tunable ? "" : "a block feeds it"}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={() => void set()}
      />
      <span class="faint unit">{unit}</span>
    </div>
  );
}
