// The tab that is shown below the diagram.

import { signal } from "@preact/signals";

export type Tab = "console" | "parameters" | "text" | "stops" | "differences" | "report";
export const tab = signal<Tab>("console");
