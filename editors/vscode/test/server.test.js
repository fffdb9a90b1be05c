"use strict";

// The server as the extension starts it, spoken to by the library that VS Code's clients are built on.
// TORCHREPRO_LINT_COMMAND is the command as a JSON list; by default `torchrepro-lint` from PATH.

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { test } = require("node:test");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-languageserver-protocol/node");
const { serverOptions } = require("../server");

const PROGRAM = `import torch
from torch.utils.data import random_split

torch.manual_seed(0)
print(torch.rand(1))
a, b = random_split(range(8), [4, 4])
print(list(a))
`;

test("the server starts, reports, offers fixes, and ends at once", { timeout: 120000 }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "torchrepro-lint-"));
  fs.writeFileSync(path.join(folder, "pyproject.toml"), "");
  const file = path.join(folder, "train.py");
  fs.writeFileSync(file, PROGRAM);
  const uri = pathToFileURL(file).href;

  const { command, args } = serverOptions(JSON.parse(process.env.TORCHREPRO_LINT_COMMAND || "null"));
  const server = spawn(command, args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const client = rpc.createProtocolConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const reported = new Promise((resolve) =>
    client.onNotification(rpc.PublishDiagnosticsNotification.type, (shown) => shown.diagnostics.length && resolve(shown)),
  );
  client.listen();

  await client.sendRequest(rpc.InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument: { codeAction: { resolveSupport: { properties: ["edit"] } } } },
    initializationOptions: { profile: "default" },
  });
  client.sendNotification(rpc.InitializedNotification.type, {});
  client.sendNotification(rpc.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "python", version: 1, text: PROGRAM },
  });
  const { diagnostics } = await reported;
  assert.deepStrictEqual(diagnostics.map((one) => one.code), ["TRL202"]);

  const actions = await client.sendRequest(rpc.CodeActionRequest.type, {
    textDocument: { uri },
    range: diagnostics[0].range,
    context: { diagnostics },
  });
  const everything = actions.find((one) => one.kind === "source.fixAll.torchrepro-lint");
  const resolved = await client.sendRequest(rpc.CodeActionResolveRequest.type, everything);
  assert.match(JSON.stringify(resolved.edit), /manual_seed\(torch\.initial_seed\(\)\)/);

  await client.sendRequest(rpc.ShutdownRequest.type);
  const before = Date.now();
  client.sendNotification(rpc.ExitNotification.type);
  assert.strictEqual(await ended, 0);
  assert.ok(Date.now() - before < 2000);
  client.dispose();
  fs.rmSync(folder, { recursive: true });
});
