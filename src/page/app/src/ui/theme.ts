// Dark and light: as the system says, or as chosen.

import { effect, signal } from "@preact/signals";

const KEY = "legwork-theme";
const query = matchMedia("(prefers-color-scheme: dark)");
const system = signal(query.matches);
query.addEventListener("change", () => (system.value = query.matches));

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

const chosen = signal(stored());
export const dark = signal(true);

effect(() => {
  dark.value = chosen.value === null ? system.value : chosen.value === "dark";
  document.documentElement.dataset.theme = dark.value ? "dark" : "light";
});

export function toggle(): void {
  chosen.value = dark.value ? "light" : "dark";
  try {
    localStorage.setItem(KEY, chosen.value);
  } catch {
    // A page from a disk may have no storage: the choice lasts as long as the page.
  }
}

/** Colours of curves, by index; told apart with any kind of colour vision. */
const CURVES_LIGHT = [
  "#0067a5",
  "#c2410c",
  "#007a5a",
  "#a83a7c",
  "#8a6d00",
  "#5b4bb3",
  "#47525e",
  "#b3261e",
];
const CURVES_DARK = [
  "#56b0ea",
  "#f0894e",
  "#3fc49a",
  "#e07fb8",
  "#d3b33c",
  "#a394f0",
  "#aab6c4",
  "#ff8a80",
];

export function curveColour(index: number): string {
  const colours = dark.value ? CURVES_DARK : CURVES_LIGHT;
  return colours[index % colours.length]!;
}

/** The value of a custom property of the style sheet. */
export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
