// The extension against the real command: what it starts speaks its protocols. VS Code itself is
// stood in for; LEGWORK names the command.

"use strict";

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const Module = require("node:module");
const { join, resolve } = require("node:path");
const { readFileSync } = require("node:fs");
const test = require("node:test");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-jsonrpc/node");

const root = resolve(__dirname, "../../../..");
const legwork = resolve(process.env.LEGWORK ?? join(root, "target/release/legwork"));
const stand = join(root, "diagrams/quadruped/stand.ron");

/** What the extension asked of VS Code. */
const asked = { clients: [], providers: {}, factories: {}, commands: {}, errors: [] };
const settings = { command: legwork, arguments: [] };

class Client {
  constructor(id, name, server, options) {
    Object.assign(this, { id, name, server, options, running: false });
    asked.clients.push(this);
  }
  async start() {
    this.running = true;
  }
  isRunning() {
    return this.running;
  }
  async stop() {
    this.running = false;
  }
}

const vscode = {
  workspace: {
    getConfiguration: () => ({ get: (key, other) => settings[key] ?? other }),
    onDidChangeConfiguration: (listen) => ((asked.changed = listen), { dispose() {} }),
  },
  window: {
    showErrorMessage: (text) => asked.errors.push(text),
    activeTextEditor: { document: { languageId: "legwork", fileName: stand } },
  },
  commands: { registerCommand: (name, run) => ((asked.commands[name] = run), { dispose() {} }) },
  debug: {
    registerDebugConfigurationProvider: (type, one) => ((asked.providers[type] = one), {}),
    registerDebugAdapterDescriptorFactory: (type, one) => ((asked.factories[type] = one), {}),
  },
  DebugAdapterExecutable: class {
    constructor(command, args, options) {
      Object.assign(this, { command, args, options });
    }
  },
};

const load = Module._load;
Module._load = function (name, ...rest) {
  if (name === "vscode") return vscode;
  if (name === "vscode-languageclient/node") return { LanguageClient: Client };
  return load.call(this, name, ...rest);
};
const extension = require("../extension.js");

test("it starts one client, and another when its settings change", async () => {
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.equal(asked.clients.length, 1);
  assert.deepEqual(asked.clients[0].server, { command: legwork, args: ["lsp"] });
  settings.arguments = ["--root", root];
  await asked.changed({ affectsConfiguration: (name) => name === "legwork" });
  assert.equal(asked.clients[0].running, false);
  assert.deepEqual(asked.clients[1].server.args, ["--root", root, "lsp"]);
  settings.arguments = [];
  await asked.commands["legwork.restart"]();
  assert.equal(asked.clients.length, 3);
  assert.deepEqual(asked.errors, []);
  await extension.deactivate();
});

test("what the manifest names is there", () => {
  const folder = join(__dirname, "..");
  const { contributes, main } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  assert.ok(readFileSync(join(folder, main)).length > 0);
  const [grammar] = contributes.grammars;
  const { scopeName } = JSON.parse(readFileSync(join(folder, grammar.path), "utf8"));
  assert.equal(scopeName, grammar.scopeName);
  assert.ok(readFileSync(join(folder, contributes.languages[0].configuration)).length > 0);
  const first = new RegExp(contributes.languages[0].firstLine);
  const text = readFileSync(stand, "utf8").split("\n");
  assert.ok(text.some((line) => first.test(line)));
});

test("the language server marks a mistake, and completes", async () => {
  const { command, args } = asked.clients[0].server;
  const child = spawn(command, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((done) => child.on("close", done));
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(child.stdout),
    new rpc.StreamMessageWriter(child.stdin),
  );
  let tell;
  connection.onNotification("textDocument/publishDiagnostics", (told) => tell?.(told));
  const told = () => new Promise((done) => (tell = done));
  connection.onRequest(() => null);
  connection.listen();
  const { capabilities } = await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(root).href,
    capabilities: {},
  });
  assert.ok(capabilities.completionProvider && capabilities.hoverProvider);
  await connection.sendNotification("initialized", {});
  const uri = pathToFileURL(stand).href;
  const text = readFileSync(stand, "utf8");
  const open = { uri, languageId: "legwork", version: 1, text };
  let next = told();
  await connection.sendNotification("textDocument/didOpen", { textDocument: open });
  assert.deepEqual((await next).diagnostics, []);
  const wrong = text.replace('"state": "body.state" }),', '"state": "body.stat" }),');
  assert.notEqual(wrong, text);
  next = told();
  await connection.sendNotification("textDocument/didChange", {
    textDocument: { uri, version: 2 },
    contentChanges: [{ text: wrong }],
  });
  const { diagnostics } = await next;
  assert.match(diagnostics[0].message, /no output `stat`/);
  const line = wrong.split("\n").findIndex((one) => one.includes('"body.stat"'));
  assert.equal(diagnostics[0].range.start.line, line);
  const character = wrong.split("\n")[line].indexOf('"body.stat"') + '"body.stat'.length;
  const found = await connection.sendRequest("textDocument/completion", {
    textDocument: { uri },
    position: { line, character },
  });
  const items = found.items ?? found;
  assert.ok(items.some(({ label }) => label.includes("state")), JSON.stringify(items[0]));
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  assert.equal(await ended, 0);
});

test("the debug adapter stops before the first block, and steps", async () => {
  const configuration = asked.providers.legwork.resolveDebugConfiguration(undefined, {});
  assert.equal(configuration.program, stand);
  const session = { workspaceFolder: { uri: { fsPath: root } } };
  const { command, args, options } =
    asked.factories.legwork.createDebugAdapterDescriptor(session);
  assert.deepEqual(args, ["dap"]);
  const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((done) => child.on("close", done));
  const reader = new rpc.StreamMessageReader(child.stdout);
  const writer = new rpc.StreamMessageWriter(child.stdin);
  const known = [];
  const waiting = [];
  reader.listen((message) => {
    known.push(message);
    for (const one of waiting.splice(0)) one();
  });
  const until = async (holds) => {
    for (;;) {
      const at = known.findIndex(holds);
      if (at >= 0) return known.splice(at, 1)[0];
      await new Promise((done) => waiting.push(done));
    }
  };
  let seq = 0;
  const request = async (name, values) => {
    const own = ++seq;
    await writer.write({ seq: own, type: "request", command: name, arguments: values });
    const answer = await until((one) => one.type === "response" && one.request_seq === own);
    assert.equal(answer.success, true, JSON.stringify(answer));
    return answer.body;
  };
  const stopped = () => until((one) => one.type === "event" && one.event === "stopped");
  await request("initialize", { adapterID: "legwork" });
  await request("launch", configuration);
  await request("configurationDone", {});
  await stopped();
  await request("next", { threadId: 1 });
  await stopped();
  const { stackFrames } = await request("stackTrace", { threadId: 1 });
  assert.ok(stackFrames[0].source.path.endsWith("stand.ron") && stackFrames[0].line > 1);
  await request("stepBack", { threadId: 1 });
  await stopped();
  await request("disconnect", {});
  assert.equal(await ended, 0);
});
