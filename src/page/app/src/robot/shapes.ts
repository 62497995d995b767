// Links as three.js sees them.

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  Color,
  CylinderGeometry,
  Group,
  type Material,
  Mesh,
  MeshLambertMaterial,
  SphereGeometry,
  Vector3,
} from "three";
import type { Colour, Geometry, Link, MeshFrame, MeshPatch, Scene } from "../protocol";

export interface Look {
  /** Colour of what has none in the robot's file. */
  plain: number;
  /** Paints all in one colour, transparent. */
  ghost: number | null;
}

/** Asks for the surface of a mesh; it may come later. */
export type MeshSource = (path: string, then: (mesh: MeshFrame) => void) => void;

/** Materials by colour, shared by all links of a robot. */
class Palette {
  private readonly known = new Map<string, Material>();
  constructor(private readonly look: Look) {}

  /** For a surface of one colour, or for one whose corners have theirs ("own"). */
  of(colour: Colour | "own" | null, flat: boolean): Material {
    const key = `${this.look.ghost === null ? (colour ?? "").toString() : "ghost"} ${flat}`;
    let material = this.known.get(key);
    if (!material) {
      material = this.make(colour, flat);
      this.known.set(key, material);
    }
    return material;
  }

  private make(colour: Colour | "own" | null, flat: boolean): Material {
    const { plain, ghost } = this.look;
    if (ghost !== null) {
      return new MeshLambertMaterial({
        color: ghost,
        transparent: true,
        opacity: 0.35,
        depthWrite: false,
        flatShading: flat,
      });
    }
    if (colour === "own") {
      return new MeshLambertMaterial({ vertexColors: true, flatShading: flat });
    }
    const opacity = colour ? colour[3] : 1;
    return new MeshLambertMaterial({
      color: colour ? shown(colour) : plain,
      flatShading: flat,
      transparent: opacity < 1,
      opacity,
    });
  }

  dispose(): void {
    for (const material of this.known.values()) material.dispose();
  }
}

/** What is quite black shows no shape. */
function shown([red, green, blue]: Colour): Color {
  const colour = new Color().setRGB(red, green, blue, "srgb");
  const light = { h: 0, s: 0, l: 0 };
  colour.getHSL(light);
  if (light.l < 0.12) colour.setHSL(light.h, light.s, 0.12);
  return colour;
}

/** A robot's or a scene's links, a group for each, in the order of poses. */
export class Body {
  readonly group = new Group();
  readonly links: Group[] = [];
  readonly names: string[] = [];
  private readonly palette: Palette;
  private readonly geometries: BufferGeometry[] = [];
  private gone = false;

  constructor(scene: Scene, look: Look, mesh: MeshSource, changed: () => void) {
    this.palette = new Palette(look);
    for (const robot of scene.robots) {
      for (const link of robot.links) {
        const group = new Group();
        group.matrixAutoUpdate = true;
        group.name = link.name;
        for (const geometry of drawnOf(link)) this.add(group, geometry, mesh, changed);
        // What has no shape is drawn as bones to the links that it carries.
        if (!drawnOf(link).length) this.bones(group, link);
        this.links.push(group);
        this.names.push(link.name);
        this.group.add(group);
      }
    }
  }

  private keep(geometry: BufferGeometry): BufferGeometry {
    this.geometries.push(geometry);
    return geometry;
  }

  private add(
    to: Group,
    { pose, shape, color }: Geometry,
    mesh: MeshSource,
    changed: () => void,
  ): void {
    const place = (child: Mesh | Group) => {
      const [w, x, y, z] = pose.orientation;
      child.position.set(...pose.position);
      child.quaternion.set(x, y, z, w);
      to.add(child);
    };
    if ("Mesh" in shape) {
      const holder = new Group();
      place(holder);
      holder.scale.set(...shape.Mesh.scale);
      mesh(shape.Mesh.path, (frame) => {
        if (this.gone) return;
        for (const geometry of surfacesOf(frame)) {
          const own = geometry.colour ?? color;
          holder.add(new Mesh(this.keep(geometry.geometry), this.palette.of(own, true)));
        }
        changed();
      });
      return;
    }
    const made = primitive(shape);
    if (made) place(new Mesh(this.keep(made), this.palette.of(color, "Box" in shape)));
  }

  private bones(to: Group, link: Link): void {
    for (const end of link.ends) {
      const along = new Vector3(...end);
      const length = along.length();
      if (length < 1e-3) continue;
      const radius = Math.min(0.02, Math.max(0.004, 0.06 * length));
      const shape = new CapsuleGeometry(radius, length, 6, 14);
      const bone = new Mesh(this.keep(shape), this.palette.of(null, false));
      bone.position.copy(along).multiplyScalar(0.5);
      bone.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), along.normalize());
      to.add(bone);
    }
  }

  dispose(): void {
    this.gone = true;
    this.group.removeFromParent();
    for (const geometry of this.geometries) geometry.dispose();
    this.palette.dispose();
  }
}

function drawnOf(link: Link): Geometry[] {
  return link.visuals.length ? link.visuals : link.collisions;
}

/** three.js' cylinders and capsules lie along y, those of robot files along z. */
function primitive(shape: Geometry["shape"]): BufferGeometry | null {
  if ("Sphere" in shape) return new SphereGeometry(shape.Sphere.radius, 32, 20);
  if ("Box" in shape) return new BoxGeometry(...shape.Box.size);
  if ("Cylinder" in shape) {
    const { radius, length } = shape.Cylinder;
    return new CylinderGeometry(radius, radius, length, 32).rotateX(Math.PI / 2);
  }
  if ("Capsule" in shape) {
    const { radius, length } = shape.Capsule;
    return new CapsuleGeometry(radius, length, 8, 24).rotateX(Math.PI / 2);
  }
  return null;
}

interface SurfacePart {
  geometry: BufferGeometry;
  colour: Colour | "own" | null;
}
const surfaces = new WeakMap<MeshFrame, BufferAttribute>();

/** More patches than this are drawn as one, whose corners have colours. */
const MANY = 8;

function surfacesOf(frame: MeshFrame): SurfacePart[] {
  const opaque = frame.patches.filter(({ colour }) => colour && colour[3] === 1);
  if (opaque.length > MANY) {
    const others = frame.patches.filter((patch) => !opaque.includes(patch));
    return [
      { geometry: painted(frame, opaque), colour: "own" },
      ...surfacesOf({ ...frame, patches: others }),
    ];
  }
  let position = surfaces.get(frame);
  if (!position) surfaces.set(frame, (position = new BufferAttribute(frame.vertices, 3)));
  return frame.patches.map(({ indices, colour }) => {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", position);
    geometry.setIndex(new BufferAttribute(indices, 1));
    return { geometry, colour };
  });
}

/** Patches as one surface. */
function painted({ vertices }: MeshFrame, patches: MeshPatch[]): BufferGeometry {
  const count = patches.reduce((sum, { indices }) => sum + indices.length, 0);
  const [positions, colours] = [new Float32Array(3 * count), new Float32Array(3 * count)];
  let at = 0;
  for (const { indices, colour } of patches) {
    const { r, g, b } = shown(colour!);
    for (const index of indices) {
      positions.set(vertices.subarray(3 * index, 3 * index + 3), at);
      colours.set([r, g, b], at);
      at += 3;
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  return geometry;
}
