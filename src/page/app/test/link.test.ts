import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LiveLink } from "../src/link/live";
import { Refusal, type Status } from "../src/link/link";
import { Writer } from "./frames";

class FakeSocket {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  readyState = 0;
  sent: string[] = [];
  onopen?: () => void;
  onmessage?: (event: { data: string | ArrayBuffer }) => void;
  onclose?: () => void;
  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }
  send(text: string): void {
    this.sent.push(text);
  }
  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  drop(): void {
    this.readyState = 3;
    this.onclose?.();
  }
}

const statuses: Status[] = [];
const quiet = { status: (to: Status) => void statuses.push(to), message() {}, frame() {} };

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.all = [];
  statuses.length = 0;
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("document", { hidden: true });
  vi.stubGlobal("fetch", async () => ({ ok: true, status: 200 }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("answers find their requests, in any order", async () => {
  const link = new LiveLink("ws://here/socket");
  link.start(quiet);
  const socket = FakeSocket.all[0]!;
  socket.open();
  const [a, b] = [link.request(0, "draw", { depth: 1 }), link.request(1, "line", { text: "x" })];
  const [first, second] = socket.sent.map((text) => JSON.parse(text) as { id: number });
  expect(first).toMatchObject({ source: 0, do: "draw", depth: 1 });
  const refused = { message: "no `x`", diagnostics: [] };
  socket.onmessage?.({ data: JSON.stringify({ reply: second!.id, error: refused }) });
  socket.onmessage?.({ data: JSON.stringify({ reply: first!.id, ok: { drawing: 1 } }) });
  expect(await a).toEqual({ drawing: 1 });
  await expect(b).rejects.toThrow("no `x`");
});

test("a lost server fails what waits, and is found again", async () => {
  const link = new LiveLink("ws://here/socket");
  link.start(quiet);
  FakeSocket.all[0]!.open();
  const waiting = link.request(0, "draw");
  FakeSocket.all[0]!.drop();
  await expect(waiting).rejects.toBeInstanceOf(Refusal);
  await expect(link.request(0, "draw")).rejects.toBeInstanceOf(Refusal);
  // It is looked for again and again, ever less often.
  for (let i = 1; i < 5; i++) {
    await vi.advanceTimersByTimeAsync(3000);
    expect(FakeSocket.all.length).toBe(i + 1);
    if (i < 4) FakeSocket.all[i]!.drop();
  }
  FakeSocket.all[4]!.open();
  expect(statuses.at(-1)).toBe("open");
});

test("a server that does not know the page is told from one that is gone", async () => {
  const link = new LiveLink("ws://here/socket");
  link.start(quiet);
  FakeSocket.all[0]!.open();
  vi.stubGlobal("fetch", async () => {
    throw new TypeError("nobody listens");
  });
  FakeSocket.all[0]!.drop();
  await vi.advanceTimersByTimeAsync(3000);
  expect(statuses.at(-1)).toBe("lost");
  vi.stubGlobal("fetch", async () => ({ ok: false, status: 403 }));
  await vi.advanceTimersByTimeAsync(9000);
  expect(statuses.at(-1)).toBe("other");
  expect(FakeSocket.all.length).toBe(1);
  // One that knows it may come again.
  vi.stubGlobal("fetch", async () => ({ ok: true, status: 200 }));
  await vi.advanceTimersByTimeAsync(3000);
  FakeSocket.all[1]!.open();
  expect(statuses.at(-1)).toBe("open");
});

test("frames are acknowledged when they are drawn, by the sequence of the last", async () => {
  const link = new LiveLink("ws://here/socket");
  link.start(quiet);
  const socket = FakeSocket.all[0]!;
  socket.open();
  for (const sequence of [5, 6]) {
    socket.onmessage?.({ data: new Writer().u32(2, sequence, 0, 0, 0).bytes() });
  }
  await vi.advanceTimersByTimeAsync(1000);
  const last = new Writer().u32(2, 7, 0, 0, 0).bytes();
  socket.onmessage?.({ data: last });
  await vi.advanceTimersByTimeAsync(1000);
  expect(socket.sent.map((text) => JSON.parse(text))).toEqual([{ ack: 6 }, { ack: 7 }]);
});
