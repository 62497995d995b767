// Writes binary frames as the server does, for the tests.

export class Writer {
  private readonly parts: number[] = [];
  private add(bytes: ArrayBuffer): this {
    this.parts.push(...new Uint8Array(bytes));
    return this;
  }
  u32(...values: number[]): this {
    for (const value of values) {
      const view = new DataView(new ArrayBuffer(4));
      view.setUint32(0, value, true);
      this.add(view.buffer);
    }
    return this;
  }
  f32(...values: number[]): this {
    for (const value of values) {
      const view = new DataView(new ArrayBuffer(4));
      view.setFloat32(0, value, true);
      this.add(view.buffer);
    }
    return this;
  }
  f64(...values: number[]): this {
    for (const value of values) {
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, value, true);
      this.add(view.buffer);
    }
    return this;
  }
  text(text: string): this {
    const bytes = new TextEncoder().encode(text);
    this.u32(bytes.length);
    this.parts.push(...bytes);
    while (this.parts.length % 4) this.parts.push(0);
    return this;
  }
  bytes(): ArrayBuffer {
    return new Uint8Array(this.parts).buffer;
  }
}
