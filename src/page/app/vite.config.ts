// Builds the page into ../dist: index.html, assets/app.js, assets/app.css, with the same bytes
// each time. The server embeds the three files, and puts the latter two into the first for a page
// that needs no server.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** What the licences of the libraries in the page ask to be said. */
function licences(): string {
  const read = (file: string) => readFileSync(join(import.meta.dirname, file), "utf8");
  const { dependencies } = JSON.parse(read("package.json")) as {
    dependencies: Record<string, string>;
  };
  const lock = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { version: string; license?: string; dev?: boolean }>;
  };
  const texts = new Map<string, string[]>();
  for (const [path, { version, license, dev }] of Object.entries(lock.packages)) {
    if (!path || dev) continue;
    const name = path.replace(/^.*node_modules\//, "");
    if (license !== "MIT") throw new Error(`${name} has the licence ${license ?? "?"}`);
    const file = readdirSync(join(import.meta.dirname, path)).find((one) =>
      /^licen[cs]e/i.test(one),
    );
    const text = file ? read(join(path, file)) : "";
    const owner = /^.*copyright.*$/im.exec(text)?.[0].trim() ?? "";
    const who = `${name} ${version}`;
    texts.set(owner, [...(texts.get(owner) ?? []), who]);
  }
  if (!dependencies.preact) throw new Error("which libraries?");
  const names = [...texts].map(([owner, who]) => `${who.join(", ")}: ${owner}`);
  const mit = read("node_modules/preact/LICENSE").replace(/^[\s\S]*?Permission/, "Permission");
  const lines = ["This file holds, each under the MIT licence:", ...names, "", mit.trim()];
  return `/*!\n${lines.join("\n")}\n*/`;
}

/** A classic script at the end of the body: it may stand in a file that is opened from a disk. */
function plainTags(): Plugin {
  return {
    name: "plain-tags",
    enforce: "post",
    transformIndexHtml: {
      order: "post",
      handler(html) {
        const style = /\s*<link rel="stylesheet"[^>]*>/;
        const script = /\s*<script type="module"[^>]*><\/script>/;
        return html
          .replace(style, "")
          .replace(script, "")
          .replace("<!-- style -->", '<link rel="stylesheet" href="assets/app.css">')
          .replace("<!-- script -->", '<script src="assets/app.js"></script>');
      },
    },
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === "chunk") chunk.code = `${licences()}\n${chunk.code}`;
      }
    },
    closeBundle() {
      const folder = join(import.meta.dirname, "../dist");
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
      const wanted = ["assets", "assets/app.css", "assets/app.js", "index.html"];
      if (files.sort().join() !== wanted.join()) throw new Error(`dist holds ${files.join()}`);
      const holds = (file: string, text: string) =>
        readFileSync(join(folder, file), "utf8").toLowerCase().includes(text);
      if (holds("assets/app.js", "</script") || holds("assets/app.css", "</style")) {
        throw new Error("the files cannot be put into a page");
      }
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [plainTags()],
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: true,
    chunkSizeWarningLimit: 2500,
    rollupOptions: {
      output: {
        format: "iife",
        entryFileNames: "assets/app.js",
        assetFileNames: "assets/app[extname]",
      },
    },
  },
});
