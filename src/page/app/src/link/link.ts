// Where messages come from: a live server, or a stream that is embedded in the page.

import type { Json } from "../protocol";

/** `other`: who answers at this address does not know this page. */
export type Status = "connecting" | "open" | "lost" | "other" | "replay";

/** An answer that says no, with what the server says about it. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly diagnostics: Json[] = [],
    /** A file was not written because it has changed on disk. */
    readonly changed = false,
  ) {
    super(message);
  }
}

/** What the page listens to. */
export interface Listener {
  status(status: Status): void;
  message(message: Record<string, Json>): void;
  frame(bytes: ArrayBuffer): void;
}

export interface Link {
  readonly live: boolean;
  /** Asks for something; the promise fails with a [`Refusal`] or when the server is lost. */
  request(source: number, what: string, args?: Record<string, Json>): Promise<Json>;
  start(listener: Listener): void;
}
