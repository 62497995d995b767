// A server at the other end of a socket, found again when it was lost.

import { type Json, sequenceOf } from "../protocol";
import { type Link, type Listener, Refusal } from "./link";

const FIRST_WAIT = 300;
const LONGEST_WAIT = 3000;

interface Waiting {
  resolve(value: Json): void;
  reject(error: Error): void;
}

export class LiveLink implements Link {
  readonly live = true;
  private socket: WebSocket | null = null;
  private waiting = new Map<number, Waiting>();
  private next = 1;
  private wait = FIRST_WAIT;
  private listener: Listener | null = null;
  private unacknowledged: number | null = null;
  private refused = false;

  constructor(private readonly url: string) {}

  start(listener: Listener): void {
    this.listener = listener;
    this.open();
  }

  request(source: number, what: string, args: Record<string, Json> = {}): Promise<Json> {
    const socket = this.socket;
    if (!socket || socket.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Refusal("the server is not there"));
    }
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ ...args, id, source, do: what }));
    });
  }

  private open(): void {
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.listener?.status("open");
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.text(event.data);
      else this.binary(event.data);
    };
    socket.onclose = () => this.lost();
  }

  private text(data: string): void {
    const message = JSON.parse(data) as Record<string, Json>;
    if (typeof message.reply !== "number") {
      this.listener?.message(message);
      return;
    }
    const waiting = this.waiting.get(message.reply);
    this.waiting.delete(message.reply);
    const error = message.error as
      { message?: string; diagnostics?: Json[]; changed?: boolean } | undefined;
    if (error) {
      const { message: words = "refused", diagnostics, changed } = error;
      waiting?.reject(new Refusal(words, diagnostics, changed));
    } else waiting?.resolve(message.ok ?? {});
  }

  private binary(bytes: ArrayBuffer): void {
    this.listener?.frame(bytes);
    const waits = this.unacknowledged !== null;
    this.unacknowledged = sequenceOf(bytes);
    if (waits) return;
    // Acknowledged when it has been drawn, so that a slow page gets fewer; a page that is not
    // seen draws nothing, but must not stop either.
    const acknowledge = () => {
      const ack = this.unacknowledged;
      this.unacknowledged = null;
      if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ ack }));
    };
    if (document.hidden) setTimeout(acknowledge, 250);
    else requestAnimationFrame(acknowledge);
  }

  private lost(): void {
    this.socket = null;
    for (const waiting of this.waiting.values()) waiting.reject(new Refusal("the server was lost"));
    this.waiting.clear();
    if (!this.refused) this.listener?.status("lost");
    setTimeout(() => void this.again(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }

  /** Looks who is there: a socket does not tell a server that is gone from one that says no. */
  private async again(): Promise<void> {
    const answer = await fetch("/", { cache: "no-store" }).catch(() => null);
    this.refused = answer?.status === 403;
    if (answer?.ok) this.open();
    else {
      if (this.refused) this.listener?.status("other");
      this.lost();
    }
  }
}
