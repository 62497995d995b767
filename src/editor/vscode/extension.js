// Starts `legwork lsp` and `legwork dap`.

"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

/** The command with its options, as the settings have it. */
function command(subcommand) {
  const settings = vscode.workspace.getConfiguration("legwork");
  return {
    command: settings.get("command", "legwork"),
    args: [...settings.get("arguments", []), subcommand],
  };
}

async function start() {
  client = new LanguageClient("legwork", "Legwork", command("lsp"), {
    documentSelector: [{ language: "legwork" }],
  });
  try {
    await client.start();
  } catch (error) {
    const path = command("lsp").command;
    void vscode.window.showErrorMessage(
      `${path} does not start: ${error}. The setting legwork.command says where it is.`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running?.isRunning()) await running.stop();
}

/** The diagram in front, for who begins without a configuration. */
const configurations = {
  resolveDebugConfiguration(_folder, configuration) {
    if (configuration.type) return configuration;
    const file = vscode.window.activeTextEditor?.document;
    if (file?.languageId !== "legwork") return undefined;
    return { type: "legwork", request: "launch", name: "Step the diagram", program: file.fileName };
  },
};

const adapters = {
  createDebugAdapterDescriptor(session) {
    const { command: path, args } = command("dap");
    const folder = session.workspaceFolder?.uri.fsPath;
    return new vscode.DebugAdapterExecutable(path, args, folder ? { cwd: folder } : undefined);
  },
};

async function activate(context) {
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider("legwork", configurations),
    vscode.debug.registerDebugAdapterDescriptorFactory("legwork", adapters),
    vscode.commands.registerCommand("legwork.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (!change.affectsConfiguration("legwork")) return;
      await stop();
      await start();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
