// The recording of the run, as a file.

import { useState } from "preact/hooks";
import * as app from "../app";
import { icons } from "../ui/icons";

/** Asks for the recording so far, and saves it where the browser saves files. */
export async function saveRecording(): Promise<void> {
  const answer = await app.attempt<{ path: string; bytes: number }>("record");
  if (!answer) return;
  const anchor = document.createElement("a");
  anchor.href = answer.path;
  anchor.download = `${app.model.value?.title ?? "run"}.mcap`;
  anchor.click();
  app.say("output", `the recording has ${answer.bytes} bytes`);
}

export function SaveRecording() {
  const [busy, setBusy] = useState(false);
  if (!app.live.value) return null;
  return (
    <button
      id="save-recording"
      aria-label="Save the recording"
      title="Save the recording of this run so far (MCAP): the bits of a run without a page (w)"
      disabled={busy}
      onClick={() => {
        setBusy(true);
        void saveRecording().finally(() => setBusy(false));
      }}
    >
      {icons.save}
    </button>
  );
}
