// The ground: a plane with lines, sharp at every distance, that fades away.

import {
  Color,
  DoubleSide,
  Mesh,
  type MeshLambertMaterial,
  PlaneGeometry,
  ShaderMaterial,
  Vector2,
} from "three";

const VERTEX = `
varying vec2 at;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  at = world.xy;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

/** After Ben Golus, The Best Darn Grid Shader (Yet), 2023: lines one pixel wide. */
const FRAGMENT = `
uniform vec2 centre;
uniform float pitch;
uniform float reach;
uniform vec3 minor;
uniform vec3 major;
varying vec2 at;
float line(vec2 p) {
  vec2 width = fwidth(p);
  vec2 away = abs(fract(p - 0.5) - 0.5) / max(width, vec2(1e-9));
  vec2 seen = (1.0 - min(away, 1.0)) * (1.0 - smoothstep(0.2, 0.6, width));
  return max(seen.x, seen.y);
}
void main() {
  float fine = line(at / pitch);
  float coarse = line(at / (4.0 * pitch));
  float fade = 1.0 - smoothstep(0.35 * reach, reach, distance(at, centre));
  vec3 colour = mix(minor, major, coarse);
  gl_FragColor = vec4(colour, max(0.75 * fine, coarse) * fade);
  #include <colorspace_fragment>
}`;

const LINES = `
vec2 p = spot / 0.25;
vec2 width = fwidth(p);
vec2 away = abs(fract(p - 0.5) - 0.5) / max(width, vec2(1e-9));
vec2 seen = (1.0 - min(away, 1.0)) * (1.0 - smoothstep(0.2, 0.6, width));
gl_FragColor.rgb *= 1.0 - 0.3 * max(seen.x, seen.y);
#include <dithering_fragment>`;

/** Draws the lines of the ground on what is lit, a quarter of a metre apart in x and y. */
export function lined(material: MeshLambertMaterial): MeshLambertMaterial {
  material.onBeforeCompile = (shader) => {
    const spot = "#include <common>\nvarying vec2 spot;";
    const where = "#include <begin_vertex>\nspot = (modelMatrix * vec4(position, 1.0)).xy;";
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", spot)
      .replace("#include <begin_vertex>", where);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", spot)
      .replace("#include <dithering_fragment>", LINES);
  };
  return material;
}

export class Ground {
  readonly mesh: Mesh<PlaneGeometry, ShaderMaterial>;

  constructor(minor: string, major: string) {
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        centre: { value: new Vector2() },
        pitch: { value: 0.25 },
        reach: { value: 5 },
        minor: { value: new Color(minor) },
        major: { value: new Color(major) },
      },
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
    });
    this.mesh = new Mesh(new PlaneGeometry(2, 2), material);
    this.mesh.renderOrder = -1;
  }

  /** Lies about a point, for a scene of a size [m]; lines are `pitch` apart. */
  place(x: number, y: number, size: number, pitch: number): void {
    const reach = 14 * size;
    this.mesh.position.set(x, y, 0);
    this.mesh.scale.setScalar(reach);
    const { uniforms } = this.mesh.material;
    (uniforms.centre!.value as Vector2).set(x, y);
    uniforms.pitch!.value = pitch;
    uniforms.reach!.value = reach;
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
