"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");
const { serverOptions } = require("./server");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("torchrepro-lint");
  client = new LanguageClient(
    "torchrepro-lint",
    "torchrepro-lint",
    { ...serverOptions(settings.get("command")), transport: TransportKind.stdio },
    {
      documentSelector: [
        { scheme: "file", language: "python" },
        { scheme: "untitled", language: "python" },
        { notebook: { notebookType: "jupyter-notebook" }, language: "python" },
      ],
      initializationOptions: settings.get("settings"),
    },
  );
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `torchrepro-lint did not start: ${error.message}. Install it with its server, and set "torchrepro-lint.command".`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.isRunning()) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("torchrepro-lint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) =>
      event.affectsConfiguration("torchrepro-lint") ? restart() : undefined,
    ),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
