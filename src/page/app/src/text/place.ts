// A place in the text that the editor is asked to show.

import { signal } from "@preact/signals";
import { tab } from "../ui/tabs";

export interface Place {
  file: string;
  line: number;
  column: number;
}

export const place = signal<Place | null>(null);

export function goTo({ file, line, column }: Place): void {
  tab.value = "text";
  place.value = { file, line, column };
}
