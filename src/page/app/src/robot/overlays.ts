// What is drawn over robots: contacts, forces, friction cones, centres of mass, frames, trails.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  Line,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  type Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";
import { type Contact, POSE, type PoseFrame } from "../protocol";

const UP = new Vector3(0, 1, 0);

/** Many equal shapes, of which the first `count` are seen. */
class Crowd {
  mesh: InstancedMesh | null = null;
  private capacity = 0;
  constructor(
    private readonly parent: Group,
    private readonly geometry: BufferGeometry,
    private readonly material: MeshBasicMaterial | MeshLambertMaterial,
    private readonly coloured = false,
  ) {}

  reserve(count: number): InstancedMesh | null {
    if (count > this.capacity || !this.mesh) {
      if (count === 0) return null;
      this.mesh?.removeFromParent();
      this.mesh?.dispose();
      this.capacity = Math.max(16, 2 ** Math.ceil(Math.log2(count)));
      this.mesh = new InstancedMesh(this.geometry, this.material, this.capacity);
      this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      this.mesh.frustumCulled = false;
      if (this.coloured) {
        this.mesh.instanceColor = new InstancedMesh(this.geometry, this.material, 0).instanceColor;
        for (let i = 0; i < this.capacity; i++) this.mesh.setColorAt(i, new Color());
      }
      this.parent.add(this.mesh);
    }
    this.mesh.count = count;
    return this.mesh;
  }

  done(): void {
    if (!this.mesh) return;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }
}

export interface Shown {
  contacts: boolean;
  forces: boolean;
  cones: boolean;
  com: boolean;
  frames: boolean;
  trails: boolean;
}

/** Length of a cone of friction and radius of a contact's ball, as parts of the scene's size. */
const CONE = 0.1;
const BALL = 0.022;
/** Weight of the newest force in the mean that arrows are scaled by. */
const SLOWLY = 0.01;

export class Overlays {
  readonly group = new Group();
  private readonly balls: Crowd;
  private readonly shafts: Crowd;
  private readonly heads: Crowd;
  private readonly cones: Crowd;
  private readonly centres: Crowd;
  private readonly frames: LineSegments;
  private readonly trails: Trail[] = [];
  private readonly touching = new Color(0xff7043);
  private readonly apart = new Color(0x8a93a0);
  /** Metres of arrow per newton. */
  private perNewton = 0;
  /** Mean of the largest force of each moment [N]. */
  private usual = 0;

  constructor(ghost: boolean) {
    const seen = (color: number, opacity = 1) =>
      new MeshBasicMaterial({
        color,
        transparent: opacity < 1,
        opacity: ghost ? 0.5 * opacity : opacity,
        depthTest: opacity === 1,
        depthWrite: opacity === 1,
      });
    this.balls = new Crowd(this.group, new SphereGeometry(1, 16, 10), seen(0xffffff), true);
    // Arrows begin inside of feet: they are seen through them.
    const arrow = seen(ghost ? 0x9c6ade : 0xe53935, 0.95);
    this.shafts = new Crowd(
      this.group,
      new CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0),
      arrow,
    );
    this.heads = new Crowd(this.group, new ConeGeometry(1, 1, 16).translate(0, 0.5, 0), arrow);
    const cone = new ConeGeometry(1, 1, 32, 1, true).rotateX(Math.PI).translate(0, 0.5, 0);
    const yellow = seen(0xf9a825, 0.28);
    yellow.side = 2;
    this.cones = new Crowd(this.group, cone, yellow);
    this.centres = new Crowd(this.group, new SphereGeometry(1, 20, 14), seen(0x00acc1, 0.9));
    const lines = new BufferGeometry();
    this.frames = new LineSegments(
      lines,
      new LineBasicMaterial({ vertexColors: true, depthTest: false }),
    );
    this.frames.frustumCulled = false;
    this.frames.renderOrder = 2;
    this.group.add(this.frames);
  }

  /** Shows a moment; `size` is that of the scene [m]. */
  update(pose: PoseFrame, links: number, robots: number, size: number, shown: Shown): void {
    this.contacts(pose.contacts, size, shown);
    this.com(pose, links, robots, size, shown);
    this.axes(pose, links, size, shown.frames);
    this.trail(pose, links, robots, shown.trails);
  }

  private contacts(contacts: readonly Contact[], size: number, shown: Shown): void {
    const matrix = new Matrix4();
    const turn = new Quaternion();
    const [at, scale, along] = [new Vector3(), new Vector3(), new Vector3()];
    const balls = this.balls.reserve(shown.contacts ? contacts.length : 0);
    if (balls) {
      contacts.forEach((contact, i) => {
        const radius = BALL * size * (contact.touches ? 1 : 0.6);
        matrix.compose(at.set(...contact.point), turn.identity(), scale.setScalar(radius));
        balls.setMatrixAt(i, matrix);
        balls.setColorAt(i, contact.touches ? this.touching : this.apart);
      });
      this.balls.done();
    }
    // A usual force is a third of the scene's size long. What is usual changes slowly, so that
    // arrows neither breathe nor shrink for ever after a blow.
    const most = contacts.reduce((all, { force }) => Math.max(all, Math.hypot(...force)), 0);
    if (most > 0) {
      const weight = this.usual === 0 ? 1 : most < this.usual ? 5 * SLOWLY : SLOWLY;
      this.usual += weight * (most - this.usual);
      this.perNewton = (0.35 * size) / this.usual;
    }
    const pushing = contacts.filter(
      ({ force }) => Math.hypot(...force) * this.perNewton > 0.004 * size,
    );
    const count = shown.forces ? pushing.length : 0;
    const [shafts, heads] = [this.shafts.reserve(count), this.heads.reserve(count)];
    if (shafts && heads) {
      pushing.forEach(({ point, force }, i) => {
        along.set(...force);
        const length = Math.min(along.length() * this.perNewton, 1.2 * size);
        turn.setFromUnitVectors(UP, along.normalize());
        const head = Math.min(0.05 * size, 0.5 * length);
        at.set(...point);
        matrix.compose(at, turn, scale.set(0.007 * size, length - head, 0.007 * size));
        shafts.setMatrixAt(i, matrix);
        at.addScaledVector(along, length - head);
        matrix.compose(at, turn, scale.set(0.018 * size, head, 0.018 * size));
        heads.setMatrixAt(i, matrix);
      });
      this.shafts.done();
      this.heads.done();
    }
    const touching = contacts.filter(({ touches, mu }) => touches && mu > 0 && Number.isFinite(mu));
    const cones = this.cones.reserve(shown.cones ? touching.length : 0);
    if (cones) {
      touching.forEach(({ point, normal, mu }, i) => {
        const height = (CONE * size) / Math.max(1, mu);
        turn.setFromUnitVectors(UP, along.set(...normal));
        matrix.compose(at.set(...point), turn, scale.set(mu * height, height, mu * height));
        cones.setMatrixAt(i, matrix);
      });
      this.cones.done();
    }
  }

  private com(pose: PoseFrame, links: number, robots: number, size: number, shown: Shown): void {
    const centres = this.centres.reserve(shown.com ? robots : 0);
    if (!centres) return;
    const matrix = new Matrix4();
    const [at, turn, scale] = [
      new Vector3(),
      new Quaternion(),
      new Vector3().setScalar(0.02 * size),
    ];
    for (let i = 0; i < robots; i++) {
      at.fromArray(pose.data, POSE * links + 3 * i);
      centres.setMatrixAt(i, matrix.compose(at, turn, scale));
    }
    centres.renderOrder = 1;
    (centres.material as MeshBasicMaterial).depthTest = false;
    this.centres.done();
  }

  private axes(pose: PoseFrame, links: number, size: number, shown: boolean): void {
    this.frames.visible = shown;
    if (!shown) return;
    const { geometry } = this.frames;
    if (geometry.getAttribute("position")?.count !== 6 * links) {
      const position = new BufferAttribute(new Float32Array(18 * links), 3);
      geometry.setAttribute("position", position.setUsage(DynamicDrawUsage));
      const colours = new Float32Array(18 * links);
      const axis = [
        0.9, 0.2, 0.2, 0.9, 0.2, 0.2, 0.2, 0.75, 0.3, 0.2, 0.75, 0.3, 0.25, 0.45, 1, 0.25, 0.45, 1,
      ];
      for (let i = 0; i < links; i++) colours.set(axis, 18 * i);
      geometry.setAttribute("color", new BufferAttribute(colours, 3));
    }
    const position = geometry.getAttribute("position") as BufferAttribute;
    const [at, turn, end] = [new Vector3(), new Quaternion(), new Vector3()];
    for (let i = 0; i < links; i++) {
      at.fromArray(pose.data, POSE * i);
      quaternion(turn, pose.data, POSE * i + 3);
      for (let axis = 0; axis < 3; axis++) {
        end
          .set(0, 0, 0)
          .setComponent(axis, 0.08 * size)
          .applyQuaternion(turn)
          .add(at);
        position.setXYZ(6 * i + 2 * axis, at.x, at.y, at.z);
        position.setXYZ(6 * i + 2 * axis + 1, end.x, end.y, end.z);
      }
    }
    position.needsUpdate = true;
  }

  /** Trails of centres of mass and of what touches the ground. */
  private trail(pose: PoseFrame, links: number, robots: number, shown: boolean): void {
    const points = [
      ...Array.from({ length: robots }, (_, i) =>
        pose.data.subarray(POSE * links + 3 * i).subarray(0, 3),
      ),
      ...pose.contacts.slice(0, 16).map(({ point }) => point),
    ];
    points.forEach((point, i) => {
      let trail = this.trails[i];
      if (!trail) {
        this.trails.push((trail = new Trail(i < robots ? 0x00acc1 : 0xff7043)));
        this.group.add(trail.line);
      }
      trail.add(pose.t, point);
    });
    for (const trail of this.trails) trail.line.visible = shown;
  }

  dispose(): void {
    this.group.removeFromParent();
    this.group.traverse((child) => {
      const drawn = child as Partial<Mesh>;
      drawn.geometry?.dispose();
      if (drawn.material && !Array.isArray(drawn.material)) drawn.material.dispose();
    });
  }
}

/** Reads w, x, y, z. */
export function quaternion(into: Quaternion, data: ArrayLike<number>, at: number): void {
  into.set(data[at + 1]!, data[at + 2]!, data[at + 3]!, data[at]!);
}

const POINTS = 4096;

/** Where a point was. */
class Trail {
  readonly line: Line;
  private readonly times = new Float64Array(POINTS);
  private count = 0;

  constructor(color: number) {
    const geometry = new BufferGeometry();
    const position = new BufferAttribute(new Float32Array(3 * POINTS), 3);
    geometry.setAttribute("position", position.setUsage(DynamicDrawUsage));
    this.line = new Line(
      geometry,
      new LineBasicMaterial({ color, transparent: true, opacity: 0.8 }),
    );
    this.line.frustumCulled = false;
  }

  add(t: number, point: ArrayLike<number>): void {
    const position = this.line.geometry.getAttribute("position") as BufferAttribute;
    const array = position.array as Float32Array;
    // Who goes back in time leaves no trail of what has not happened yet.
    while (this.count && this.times[this.count - 1]! >= t) this.count--;
    if (this.count === POINTS) {
      // Every second point of all is enough.
      for (let i = 0; i < POINTS / 2; i++) {
        this.times[i] = this.times[2 * i]!;
        array.copyWithin(3 * i, 6 * i, 6 * i + 3);
      }
      this.count = POINTS / 2;
    }
    this.times[this.count] = t;
    array.set([point[0]!, point[1]!, point[2]!], 3 * this.count);
    this.count++;
    position.needsUpdate = true;
    this.line.geometry.setDrawRange(0, this.count);
  }
}
