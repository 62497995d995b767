// The robot: a canvas with three.js, switches of what is shown, recording.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import * as app from "../app";
import type { Scene } from "../protocol";
import { save } from "../scopes/export";
import { number } from "../ui/format";
import { icons } from "../ui/icons";
import { css, dark } from "../ui/theme";
import { type Options, World } from "./world";

const options = signal<Options>({
  grid: true,
  contacts: true,
  forces: true,
  cones: false,
  com: false,
  frames: false,
  trails: false,
  ghost: true,
  follow: true,
  shadows: false,
});

/** Parts of the view to the right and up, by keys with shift. */
const PANS: Record<string, [number, number]> = {
  ArrowLeft: [-0.08, 0],
  ArrowRight: [0.08, 0],
  ArrowUp: [0, 0.08],
  ArrowDown: [0, -0.08],
};

const SWITCHES: [keyof Options, string, string][] = [
  ["follow", "follow", "The camera goes with the centre of mass"],
  ["contacts", "contacts", "Contact points; those that touch are orange"],
  ["forces", "forces", "Contact forces"],
  ["cones", "cones", "Friction cones"],
  ["com", "CoM", "Centres of mass"],
  ["frames", "frames", "Frames of links, x red, y green, z blue"],
  ["trails", "trails", "Where centres of mass and contacts were"],
  ["shadows", "shadows", "Shadows on the ground"],
  ["grid", "grid", "Ground, lines a quarter of a metre apart"],
  ["ghost", "ghost", "The other sources"],
];

/** Whether there is anything to see. */
export function hasRobot(): boolean {
  return (app.models.value.get(0)?.scene?.robots.length ?? 0) > 0;
}

export function RobotView() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const world = useRef<World | null>(null);
  const [picked, setPicked] = useState("");
  const [failed, setFailed] = useState("");

  useEffect(() => {
    let made: World;
    try {
      made = new World(
        canvas.current!,
        options.peek(),
        (source) => (path, then) => app.withMesh(source, path, then),
        (source) => app.poses.get(source),
      );
    } catch (error) {
      setFailed(`This browser shows no WebGL: ${app.messageOf(error)}`);
      return;
    }
    world.current = made;
    Object.assign(window, { legworkWorld: made });
    const stops = [
      effect(() => {
        void dark.value;
        made.theme(css("--room"), css("--room-line"), css("--room-axis"));
      }),
      effect(() => {
        const shown = new Map<number, Scene>();
        for (const source of app.sources.value) {
          const scene = app.models.value.get(source)?.scene;
          if (scene && !app.hidden.value.has(source)) shown.set(source, scene);
        }
        made.show(shown);
      }),
      effect(() => {
        made.options = options.value;
        void app.arrived.value;
        made.request();
      }),
    ];
    const observer = new ResizeObserver(() => made.request());
    observer.observe(canvas.current!);
    return () => {
      stops.forEach((stop) => stop());
      observer.disconnect();
      made.dispose();
    };
  }, []);

  const key = (event: KeyboardEvent) => {
    const turn = 0.12;
    const moves: Record<string, [number, number, number]> = {
      ArrowLeft: [-turn, 0, 1],
      ArrowRight: [turn, 0, 1],
      ArrowUp: [0, turn, 1],
      ArrowDown: [0, -turn, 1],
      "+": [0, 0, 0.85],
      "-": [0, 0, 1.18],
    };
    const move = moves[event.key];
    const pan = event.shiftKey ? PANS[event.key] : undefined;
    if (pan) {
      // The camera leaves what it followed.
      options.value = { ...options.value, follow: false };
      world.current?.pan(...pan);
    } else if (event.key === "0") world.current?.frame();
    else if (move) world.current?.orbit(...move);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const several = app.sources.value.length > 1;
  return (
    <section class="pane robot" aria-label="Robot">
      <div class="tools">
        {SWITCHES.filter(([name]) => name !== "ghost" || several).map(([name, label, title]) => (
          <button
            key={name}
            title={title}
            aria-pressed={options.value[name]}
            onClick={() => (options.value = { ...options.value, [name]: !options.value[name] })}
          >
            {label}
          </button>
        ))}
        <span class="spring" />
        <Record canvas={() => canvas.current} />
        <button
          title="Fit (0)"
          aria-label="Look at everything"
          onClick={() => world.current?.frame()}
        >
          {icons.fit}
        </button>
      </div>
      <div class="room">
        {failed ? (
          <p class="empty">{failed}</p>
        ) : (
          <canvas
            ref={canvas}
            id="robot"
            tabIndex={0}
            role="application"
            aria-label={
              "Robot in three dimensions. Arrow keys turn the camera, " +
              "with shift they pan, plus and minus zoom, 0 shows all"
            }
            onKeyDown={key}
            onClick={(event) => {
              const { clientWidth, clientHeight } = event.currentTarget;
              const hit = world.current?.pick(
                event.offsetX / clientWidth,
                event.offsetY / clientHeight,
              );
              const at = hit?.point
                .toArray()
                .map((value) => number(value, 4))
                .join(", ");
              setPicked(hit ? `${hit.link}  (${at}) m` : "");
            }}
          />
        )}
        {picked && <output class="picked num">{picked}</output>}
      </div>
    </section>
  );
}

function Record({ canvas }: { canvas: () => HTMLCanvasElement | null }) {
  const [recorder, setRecorder] = useState<MediaRecorder | null>(null);
  const begin = () => {
    const from = canvas();
    if (!from) return;
    const types = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
    const mimeType = types.find((type) => MediaRecorder.isTypeSupported(type));
    if (!mimeType) {
      app.say("error", "this browser records no WebM");
      return;
    }
    const made = new MediaRecorder(from.captureStream(60), { mimeType, videoBitsPerSecond: 8e6 });
    const parts: Blob[] = [];
    made.ondataavailable = (event) => parts.push(event.data);
    made.onstop = () =>
      save(`${app.model.value?.name ?? "robot"}.webm`, new Blob(parts), "video/webm");
    made.start(1000);
    setRecorder(made);
  };
  const end = () => {
    recorder?.stop();
    setRecorder(null);
  };
  return (
    <button
      class={recorder ? "recording" : ""}
      aria-pressed={recorder !== null}
      title={recorder ? "Stop and save the film" : "Record a film (WebM)"}
      aria-label="Record a film"
      onClick={recorder ? end : begin}
    >
      {icons.record}
    </button>
  );
}
