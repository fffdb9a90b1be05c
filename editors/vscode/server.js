"use strict";

/** How the server is started: the configured command, or `torchrepro-lint` from PATH. */
function serverOptions(command) {
  const [program, ...rest] = command && command.length ? command : ["torchrepro-lint"];
  return { command: program, args: [...rest, "server"] };
}

module.exports = { serverOptions };
