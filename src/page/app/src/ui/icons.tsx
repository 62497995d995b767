// Icons of buttons, 16 × 16, in the colour of the text.

import type { ComponentChild } from "preact";

function icon(path: string, filled = false): ComponentChild {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" class="icon">
      <path
        d={path}
        fill={filled ? "currentColor" : "none"}
        stroke={filled ? "none" : "currentColor"}
        stroke-width="1.4"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

export const icons = {
  run: icon("M4 2.5v11l9-5.5z", true),
  pause: icon("M4 2.5h3v11H4zM9 2.5h3v11H9z", true),
  start: icon("M3 3h1.6v10H3zM13 3v10L5.5 8z", true),
  back: icon("M10.5 3v10L4 8zM11.5 3H13v10h-1.5z", true),
  step: icon("M5.5 3v10L12 8zM3 3h1.5v10H3z", true),
  next: icon("M2.5 8h8M7.5 5l3 3-3 3M13.5 3v10"),
  end: icon("M12.9 3h-1.6v10h1.6zM3 3v10l7.5-5z", true),
  fork: icon("M4 3v10M4 9c0-3 8-2 8-6M10 4.5 12 2.7l2 1.8M2.5 12 4 13.6 5.5 12"),
  fit: icon("M2 5.5V2h3.5M10.5 2H14v3.5M14 10.5V14h-3.5M5.5 14H2v-3.5M5 5h6v6H5z"),
  expand: icon("M8 6V2M6 4l2-2 2 2M8 10v4M6 12l2 2 2-2M2.5 8h11"),
  collapse: icon("M8 2v4M6 4l2 2 2-2M8 14v-4M6 12l2-2 2 2M2.5 8h11"),
  heat: icon(
    "M8 1.5c.5 3 4 4.5 4 8a4 4 0 0 1-8 0c0-1.6.8-2.5 1.6-3.5.4 1 .9 1.5 1.4 1.7C6.8 5.5 7 3.5 8 1.5z",
  ),
  theme: icon("M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12"),
  keys: icon("M1.5 4.5h13v8h-13zM4 7h.01M6.5 7h.01M9 7h.01M11.5 7h.01M5 10h6"),
  close: icon("M4 4l8 8M12 4l-8 8"),
  plus: icon("M8 3v10M3 8h10"),
  save: icon("M8 2v8M5 7l3 3 3-3M2.5 13.5h11"),
  record: icon("M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z", true),
  follow: icon("M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z"),
  lock: icon("M2 8h9M8 5l3 3-3 3M13.5 3v10"),
};
