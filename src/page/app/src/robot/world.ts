// The room in which robots stand: camera, lights, ground, sources one upon the other.

import {
  AmbientLight,
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  DirectionalLight,
  DoubleSide,
  Group,
  HemisphereLight,
  Mesh,
  MeshLambertMaterial,
  Object3D,
  PerspectiveCamera,
  PlaneGeometry,
  Quaternion,
  Raycaster,
  Scene as Room,
  ShadowMaterial,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { POSE, type PoseFrame, type Scene, type Surface } from "../protocol";
import { Ground, lined } from "./ground";
import { Overlays, quaternion, type Shown } from "./overlays";
import { Body, type MeshSource } from "./shapes";

Object3D.DEFAULT_UP.set(0, 0, 1);

export interface Options extends Shown {
  grid: boolean;
  ghost: boolean;
  follow: boolean;
  shadows: boolean;
}

interface Actor {
  scene: Scene;
  body: Body;
  overlays: Overlays;
  links: number;
  robots: number;
}

/** Whether GL is computed by the processor, which has no time for smooth edges. */
function drawsInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name: unknown = gl && info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software/i.test(String(name));
}

const GHOSTS = [0x9c6ade, 0x26a69a, 0xd4a017];

export class World {
  readonly renderer: WebGLRenderer;
  /** Most pixels of the picture in each of the page: fewer where there is no graphics card. */
  private readonly most: number;
  private readonly room = new Room();
  private readonly camera = new PerspectiveCamera(40, 1, 0.01, 500);
  private readonly controls: OrbitControls;
  private readonly sun = new DirectionalLight(0xffffff, 2.1);
  private readonly actors = new Map<number, Actor>();
  private grid: Ground | null = null;
  private readonly floor: Mesh;
  private terrain: Group | null = null;
  private due = 0;
  private framed = false;
  private readonly centre = new Vector3();
  /** Length that marks are sized by [m]. */
  private size = 0.6;
  options: Options;
  /** Frames that were drawn, for those who measure. */
  frames = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    options: Options,
    private readonly meshOf: (source: number) => MeshSource,
    private readonly latest: (source: number) => PoseFrame | undefined,
  ) {
    this.options = options;
    const software = drawsInSoftware();
    this.renderer = new WebGLRenderer({ canvas, antialias: !software });
    this.most = software ? 0.8 : 2;
    this.renderer.shadowMap.enabled = true;
    this.camera.position.set(1.3, -1.5, 0.8);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.request());
    this.room.add(new HemisphereLight(0xffffff, 0x9aa4b0, 1.3), new AmbientLight(0xffffff, 0.25));
    this.sun.shadow.mapSize.set(1024, 1024);
    this.room.add(this.sun, this.sun.target);
    this.floor = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.22 }));
    this.floor.receiveShadow = true;
    this.room.add(this.floor);
  }

  dispose(): void {
    cancelAnimationFrame(this.due);
    for (const source of [...this.actors.keys()]) this.remove(source);
    this.controls.dispose();
    this.renderer.dispose();
  }

  request(): void {
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      this.draw();
    });
  }

  theme(ground: string, lines: string, middle: string): void {
    this.room.background = new Color(ground);
    this.grid?.dispose();
    this.grid = new Ground(lines, middle);
    this.room.add(this.grid.mesh);
    this.request();
  }

  /** Shows the sources; what is no longer named goes. */
  show(scenes: ReadonlyMap<number, Scene>): void {
    for (const source of [...this.actors.keys()]) {
      if (this.actors.get(source)?.scene !== scenes.get(source)) this.remove(source);
    }
    for (const [source, scene] of scenes) {
      if (this.actors.has(source)) continue;
      const ghost = source === 0 ? null : GHOSTS[(source - 1) % GHOSTS.length]!;
      const look = { plain: 0x9fb0c3, ghost };
      const body = new Body(scene, look, this.meshOf(source), () => this.changed());
      const overlays = new Overlays(ghost !== null);
      const links = body.links.length;
      this.actors.set(source, { scene, body, overlays, links, robots: scene.robots.length });
      this.room.add(body.group, overlays.group);
      if (source === 0) this.setTerrain(scene.ground ?? null);
    }
    this.request();
  }

  private changed(): void {
    this.framed = false;
    this.request();
  }

  private remove(source: number): void {
    const actor = this.actors.get(source);
    actor?.body.dispose();
    actor?.overlays.dispose();
    this.actors.delete(source);
  }

  /** Ground that is no plane: stairs, height fields, cuboids. */
  private setTerrain(surface: Surface | null): void {
    this.terrain?.removeFromParent();
    this.terrain?.traverse((child) => child instanceof Mesh && child.geometry.dispose());
    this.terrain = null;
    if (!surface) return;
    const terrain = new Group();
    const position = new BufferAttribute(new Float32Array(surface.vertices.flat()), 3);
    for (const { triangles, color } of surface.patches) {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", position);
      geometry.setIndex(triangles.flat());
      const material = new MeshLambertMaterial({
        color: color ? new Color(color[0], color[1], color[2]) : 0x9aa595,
        side: DoubleSide,
        flatShading: true,
      });
      const mesh = new Mesh(geometry, lined(material));
      mesh.receiveShadow = true;
      terrain.add(mesh);
    }
    this.terrain = terrain;
    this.room.add(terrain);
  }

  /** Looks at everything again. */
  frame(): void {
    this.framed = false;
    this.request();
  }

  private lookAt(): void {
    const body = this.actors.get(0)?.body ?? [...this.actors.values()][0]?.body;
    if (!body) return;
    body.group.updateMatrixWorld(true);
    const box = new Box3().setFromObject(body.group);
    if (box.isEmpty()) return;
    const middle = box.getCenter(new Vector3());
    const reach = box.getSize(new Vector3()).length() / 2;
    if (!(reach > 1e-6) || !Number.isFinite(reach)) return;
    this.size = Math.min(20, Math.max(0.05, reach));
    const away = new Vector3(1.15, -1.45, 0.62).normalize();
    const narrow = Math.min(1, Math.max(0.5, this.camera.aspect));
    const near = (1.25 * reach) / Math.sin((this.camera.fov * Math.PI) / 360) / narrow;
    // Ground that is no plane is looked at, too.
    const distance = this.terrain ? Math.max(near, 1.5) : near;
    this.controls.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(away, distance);
    this.camera.near = distance / 200;
    this.camera.far = distance * 200;
    this.camera.updateProjectionMatrix();
    this.centre.copy(this.mass() ?? middle);
    this.controls.update();
    this.framed = true;
  }

  /** The mean of all centres of mass of the first source. */
  private mass(): Vector3 | null {
    const [source, actor] = [...this.actors][0] ?? [];
    const pose = source === undefined ? undefined : this.latest(source);
    if (!actor || !pose || !actor.robots) return null;
    const mean = new Vector3();
    for (let i = 0; i < actor.robots; i++) {
      mean.add(new Vector3().fromArray(pose.data, POSE * actor.links + 3 * i));
    }
    mean.divideScalar(actor.robots);
    return Number.isFinite(mean.x + mean.y + mean.z) ? mean : null;
  }

  private draw(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const ratio = Math.min(this.most, devicePixelRatio || 1);
    const size = this.renderer.getSize(new Vector2());
    if (size.x !== width || size.y !== height || this.renderer.getPixelRatio() !== ratio) {
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(width, height, false);
      this.camera.aspect = width / height;
      this.camera.updateProjectionMatrix();
    }
    let any = false;
    const turn = new Quaternion();
    for (const [source, { body, overlays, links, robots }] of this.actors) {
      const pose = this.latest(source);
      const shown = source === 0 || this.options.ghost;
      const fits = pose !== undefined && pose.data.length >= POSE * links + 3 * robots;
      body.group.visible = shown && fits;
      overlays.group.visible = shown && fits;
      if (!pose || !fits || !shown) continue;
      any = true;
      body.links.forEach((link, i) => {
        link.position.fromArray(pose.data, POSE * i);
        quaternion(turn, pose.data, POSE * i + 3);
        link.quaternion.copy(turn);
      });
      if (!this.framed && source === [...this.actors.keys()][0]) this.lookAt();
      overlays.update(pose, links, robots, this.size, this.options);
    }
    if (any && this.options.follow) {
      const mass = this.mass();
      if (mass) {
        const by = mass.clone().sub(this.centre);
        this.camera.position.add(by);
        this.controls.target.add(by);
        this.centre.copy(mass);
        this.camera.lookAt(this.controls.target);
      }
    } else this.centre.copy(this.mass() ?? this.centre);
    this.ground();
    this.renderer.render(this.room, this.camera);
    this.frames++;
  }

  /** Ground, grid and sun stay where the camera looks. */
  private ground(): void {
    const { target } = this.controls;
    const { shadows, grid } = this.options;
    if (this.grid) {
      this.grid.place(target.x, target.y, this.size, this.pitch());
      this.grid.mesh.visible = grid && this.terrain === null;
    }
    this.floor.visible = shadows && this.terrain === null;
    this.floor.position.set(target.x, target.y, 0.0005 * this.size);
    this.floor.scale.setScalar(12 * this.size);
    this.sun.position.set(
      target.x + 2 * this.size,
      target.y - 1.2 * this.size,
      target.z + 4 * this.size,
    );
    this.sun.target.position.copy(target);
    if (this.sun.castShadow !== shadows) {
      this.sun.castShadow = shadows;
      for (const { body } of this.actors.values()) {
        body.group.traverse((child) => (child.castShadow = shadows));
      }
    }
    if (shadows) {
      const { camera } = this.sun.shadow;
      const reach = 2.2 * this.size;
      Object.assign(camera, {
        left: -reach,
        right: reach,
        top: reach,
        bottom: -reach,
        near: 0.1 * this.size,
        far: 12 * this.size,
      });
      camera.updateProjectionMatrix();
    }
  }

  /** Lines are a quarter of a metre apart; ten times less in a small scene, or more in a large. */
  private pitch(): number {
    return 0.25 * (this.size < 0.12 ? 0.1 : this.size > 5 ? 10 : 1);
  }

  /** The link under a point of the canvas, from 0 to 1. */
  pick(x: number, y: number): { link: string; point: Vector3 } | null {
    const caster = new Raycaster();
    caster.setFromCamera(new Vector2(2 * x - 1, 1 - 2 * y), this.camera);
    const body = this.actors.get(0)?.body;
    const hit = body ? caster.intersectObject(body.group, true)[0] : undefined;
    if (!hit) return null;
    let at: Object3D | null = hit.object;
    while (at && !body?.names.includes(at.name)) at = at.parent;
    return at ? { link: at.name, point: hit.point } : null;
  }

  /** Turns the camera about its target, for the arrow keys [rad]. */
  orbit(azimuth: number, elevation: number, factor: number): void {
    const away = this.camera.position.clone().sub(this.controls.target);
    away.applyAxisAngle(new Vector3(0, 0, 1), azimuth);
    const side = new Vector3(0, 0, 1).cross(away).normalize();
    const turned = away.clone().applyAxisAngle(side, -elevation);
    if (turned.clone().normalize().z < 0.98 && turned.clone().normalize().z > -0.98)
      away.copy(turned);
    this.camera.position.copy(this.controls.target).addScaledVector(away, factor);
    this.controls.update();
    this.request();
  }

  /** Moves the camera to the right and up, by parts of what it sees. */
  pan(right: number, up: number): void {
    const away = this.camera.position.clone().sub(this.controls.target);
    const [x, y] = [new Vector3(), new Vector3()];
    this.camera.updateMatrixWorld();
    this.camera.matrixWorld.extractBasis(x, y, new Vector3());
    const by = x.multiplyScalar(right).addScaledVector(y, up).multiplyScalar(away.length());
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.controls.update();
    this.request();
  }
}
