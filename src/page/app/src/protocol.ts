// The messages between server and page, protocol 1. The server's `protocol.rs` is the reference.

/** Version of the protocol that this page speaks. */
export const PROTOCOL = 1;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Hello {
  protocol: number;
  version: string;
  title: string;
  live: boolean;
  /** Sources that there are. */
  sources?: number[];
}

/** Which text runs, and how the files on disk differ from it. */
export interface RunningText {
  /** When it came [s since 1970]. */
  since: number;
  /** Whether a file has it; it was typed in a page else. */
  saved: boolean;
  /** What is wrong with the files on disk, if they do not compile. */
  broken: { file?: string; line?: number; column?: number; message: string } | null;
  /** Files that hold another text than what runs. */
  differs: string[];
}

/** A signal that is recorded. */
export interface SignalInfo {
  path: string;
  unit: string | null;
  type: string;
  names: string[];
  rate?: string;
}

export interface BlockInfo {
  path: string;
  kind: string;
  summary: string | null;
}

export interface Variant {
  name: string;
  choices: string[];
  chosen?: string;
}

export interface Diagnostic {
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  severity: string;
  message: string;
  hint?: string | null;
}

export interface Model {
  source: number;
  name: string;
  title: string;
  end: number | null;
  step: number;
  files: string[];
  signals: SignalInfo[];
  blocks: BlockInfo[];
  scene: Scene | null;
  variants: Variant[];
  rates: { label: string; colour?: unknown }[];
  warnings: (string | Diagnostic)[];
}

/** A live value: as text with its unit, or its numbers. */
export type Live = string | number[] | null;
/** What a signal is, or the part of one that a wire takes. */
export interface Facts {
  type: string | null;
  unit: string | null;
  frame: string | null;
}

export type Values = [string, Live][] | { [path: string]: Live };

/** A parameter that was changed, or texts: their files are the path then. */
export interface Edit {
  path: string;
  value: string;
  t: string;
  step: number;
  text?: boolean;
}

export interface State {
  source: number;
  t: number;
  step: number;
  running: boolean;
  speed: number | null;
  stage: string;
  block: string | null;
  end: boolean;
  fault: string | null;
  breakpoints: [number, string][];
  watches: [string, string][];
  earliest: number;
  reach?: number;
  stopped_by: string | null;
  achieved: number | null;
  off: string[];
  /** Parameters that were changed. */
  edits?: Edit[];
  /** When texts changed the structure [s]. */
  seams?: number[];
  /** Why it stopped; empty if it did not. */
  halt?: string;
  values?: Values;
  heat?: [string, number][];
}

// A drawing, as `legwork graph` places it.

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}
export type Point = [number, number];
export type Role = "Block" | "Hidden" | "Condition" | "Join" | "Folded";
export type Flow = "State" | "Through" | "Control";
export type SampleTime =
  "Constant" | "Continuous" | { Periodic: { period: number; offset: number; text: string } };

export interface Pin {
  symbol: number;
  pin: number;
}
export interface DrawnSymbol {
  frame: number;
  role: Role;
  name: string;
  path: string;
  kind: string;
  note: string;
  sample_time: SampleTime;
  inputs: string[];
  outputs: { name: string; ty: string; bus: boolean }[];
  /** Whether it calls functions that are not shown. */
  calls: boolean;
}
export interface Wire {
  from: Pin;
  to: Pin;
  part: string;
  flow: Flow;
}
export interface Drawing {
  schematic: {
    title: string;
    frames: { parent: number | null; name: string; path: string }[];
    symbols: DrawnSymbol[];
    wires: Wire[];
  };
  frames: Rect[];
  symbols: Rect[];
  inputs: Point[][];
  outputs: Point[][];
  wires: Point[][];
  labels: string[];
}
export interface Drawn {
  drawing: Drawing;
  loops?: string[][];
}

// What there is to see.

export interface Pose {
  position: [number, number, number];
  /** w, x, y, z. */
  orientation: [number, number, number, number];
}
export type Colour = [number, number, number, number];
export type Shape =
  | { Sphere: { radius: number } }
  | { Box: { size: [number, number, number] } }
  | { Cylinder: { radius: number; length: number } }
  | { Capsule: { radius: number; length: number } }
  | { Mesh: { path: string; scale: [number, number, number] } };
export interface Geometry {
  pose: Pose;
  shape: Shape;
  color: Colour | null;
}
export interface Link {
  name: string;
  visuals: Geometry[];
  collisions: Geometry[];
  ends: [number, number, number][];
}
/** A surface as JSON: corners, and triangles of one colour each. */
export interface Surface {
  vertices: [number, number, number][];
  patches: { triangles: [number, number, number][]; color: Colour | null }[];
}
export interface Scene {
  robots: { name: string; links: Link[] }[];
  /** In world axes, where the diagram has other ground than a plane. */
  ground?: Surface | null;
}

// Answers.

export interface Parameter {
  path: string;
  name: string;
  value: string;
  unit: string;
  doc: string;
  tunable: boolean;
  /** Why it is not changed here. */
  why?: string;
  min?: number | null;
  max?: number | null;
  /** Whether the text of the diagram gives it. */
  given?: boolean;
  type?: string;
}
export interface PortInfo {
  name: string;
  path: string;
  type: string;
  unit?: string;
  frame?: string;
  /** What an input reads. */
  from?: string[];
}
export interface BlockAnswer {
  path: string;
  kind?: string;
  manual: string;
  summary: string;
  parameters: Parameter[];
  inputs: PortInfo[];
  outputs: PortInfo[];
  rate: string;
  /** Whether a block calls it: it has no signals of its own. */
  called?: boolean;
  line: { file: string; line: number; column: number } | null;
  time_us?: number | null;
}
export interface WatchAnswer {
  signal: number;
  path: string;
  unit: string;
  units?: string[];
  names: string[];
  leaves: number;
  type: string;
  frame: string;
  rate: string;
}
export interface ForkAnswer {
  source: number;
  fresh: [string, string][];
}
export interface CompareRow {
  path: string;
  unit: string;
  difference: number;
  t: number;
  /** When the two were first apart, if that is known. */
  first?: number | null;
}
export interface Input {
  name: string;
  unit?: string;
  value?: string;
  type?: string;
  /** Whether it is written from here; a block feeds it else. */
  tunable?: boolean;
}
export interface Choices {
  variants: Variant[];
  inputs?: Input[];
  parameters: Parameter[];
}
export interface TextFile {
  path: string;
  text: string;
  /** By which a save tells whether the file has changed since. */
  hash?: string;
  writable: boolean;
}
export interface EditAnswer {
  diagnostics: Diagnostic[];
  applied?: boolean;
  hash?: string;
}

/** What a recorded run says of itself. */
export interface Report {
  source: number;
  title: string;
  doc?: string | null;
  sections: {
    heading: string;
    lead: string | null;
    head: string[];
    rows: { text: string; kind: "text" | "number" | "pass" | "fail" | "open" }[][];
  }[];
}

// Binary frames, little endian.

export interface Contact {
  touches: boolean;
  point: [number, number, number];
  normal: [number, number, number];
  force: [number, number, number];
  mu: number;
}
export interface PoseFrame {
  kind: "pose";
  source: number;
  t: number;
  /** What follows t: poses of links, then centres of mass. */
  data: Float32Array;
  /** Where contacts begin in the bytes, and the bytes. */
  contacts: Contact[];
}
export interface SampleBlock {
  signal: number;
  rows: number;
  leaves: number;
  replaces: boolean;
  thinned: boolean;
  t: Float64Array;
  values: Float64Array;
}
export interface SampleFrame {
  kind: "samples";
  source: number;
  blocks: SampleBlock[];
}
export interface MeshPatch {
  colour: Colour | null;
  indices: Uint32Array;
}
export interface MeshFrame {
  kind: "mesh";
  source: number;
  path: string;
  vertices: Float32Array;
  patches: MeshPatch[];
}
export type Frame = PoseFrame | SampleFrame | MeshFrame;

/** Numbers of a pose: position, then orientation w, x, y, z. */
export const POSE = 7;
const HEAD = 16;

/** The sequence number of a binary frame, to be acknowledged. */
export function sequenceOf(bytes: ArrayBuffer): number {
  return new DataView(bytes).getUint32(4, true);
}

/** Reads through a frame; beyond its end is an error. */
class Reader {
  private readonly view: DataView;
  at: number;
  constructor(
    private readonly bytes: ArrayBuffer,
    at: number,
  ) {
    this.view = new DataView(bytes);
    this.at = at;
  }
  u32(): number {
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }
  f32(): number {
    const value = this.view.getFloat32(this.at, true);
    this.at += 4;
    return value;
  }
  f64(): number {
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }
  vector(): [number, number, number] {
    return [this.f32(), this.f32(), this.f32()];
  }
  private part(bytes: number): ArrayBuffer {
    if (this.at + bytes > this.bytes.byteLength) throw new RangeError("the frame is too short");
    const part = this.bytes.slice(this.at, this.at + bytes);
    this.at += bytes;
    return part;
  }
  f32s(count: number): Float32Array {
    return new Float32Array(this.part(4 * count));
  }
  f64s(count: number): Float64Array {
    return new Float64Array(this.part(8 * count));
  }
  u32s(count: number): Uint32Array {
    return new Uint32Array(this.part(4 * count));
  }
  text(bytes: number): string {
    const text = new TextDecoder().decode(this.part(bytes));
    this.at += (4 - (bytes % 4)) % 4;
    return text;
  }
}

/** How many links and robots the scene of a source has. */
export type SizeOf = (source: number) => { links: number; robots: number };

/** Decodes a binary frame; `null` for a kind that this page does not know. */
export function decode(bytes: ArrayBuffer, sizeOf: SizeOf): Frame | null {
  const head = new Reader(bytes, 0);
  const kind = head.u32();
  head.u32();
  const source = head.u32();
  const reader = new Reader(bytes, HEAD);
  if (kind === 1) return pose(reader, source, sizeOf(source));
  if (kind === 2) return samples(reader, source);
  if (kind === 3) return mesh(reader, source);
  return null;
}

function pose(reader: Reader, source: number, size: { links: number; robots: number }): PoseFrame {
  const t = reader.f64();
  const data = reader.f32s(POSE * size.links + 3 * size.robots);
  const count = reader.u32();
  const contacts: Contact[] = [];
  for (let i = 0; i < count; i++) {
    const touches = (reader.u32() & 1) !== 0;
    const [point, normal, force] = [reader.vector(), reader.vector(), reader.vector()];
    contacts.push({ touches, point, normal, force, mu: reader.f32() });
  }
  return { kind: "pose", source, t, data, contacts };
}

function samples(reader: Reader, source: number): SampleFrame {
  const blocks: SampleBlock[] = [];
  for (let left = reader.u32(); left > 0; left--) {
    const [signal, rows, leaves, flags] = [reader.u32(), reader.u32(), reader.u32(), reader.u32()];
    const t = reader.f64s(rows);
    const values = reader.f64s(rows * leaves);
    const replaces = (flags & 1) !== 0;
    const thinned = (flags & 2) !== 0;
    blocks.push({ signal, rows, leaves, replaces, thinned, t, values });
  }
  return { kind: "samples", source, blocks };
}

function mesh(reader: Reader, source: number): MeshFrame {
  const path = reader.text(reader.u32());
  const [vertexCount, patchCount] = [reader.u32(), reader.u32()];
  const vertices = reader.f32s(3 * vertexCount);
  const patches: MeshPatch[] = [];
  for (let i = 0; i < patchCount; i++) {
    const rgba = reader.f32s(4);
    const colour: Colour | null = rgba[0]! < 0 ? null : [rgba[0]!, rgba[1]!, rgba[2]!, rgba[3]!];
    patches.push({ colour, indices: reader.u32s(3 * reader.u32()) });
  }
  return { kind: "mesh", source, path, vertices, patches };
}
