import { CairnError } from "#lang/errors.ts";
import { readCommand, type Settings } from "./settings/settings.ts";
import { openStores } from "./stores.ts";

try {
  const command = readCommand(process.argv.slice(2), process.env);
  if (command.do === "print") process.stdout.write(`${command.text.trimEnd()}\n`);
  else await start(command.settings);
} catch (thrown) {
  const { message, hint, code, stack } = CairnError.from(thrown);
  process.stderr.write(`cairn: ${message}\n${hint === undefined ? "" : `  ${hint}\n`}`);
  if (code === "internal") process.stderr.write(`${stack}\n`);
  process.exitCode = 1;
}

async function start(settings: Settings): Promise<void> {
  // Recorded data is private: files are readable only by this user.
  process.umask(0o077);
  // The threads of the stores start while this one loads the rest, which takes longest.
  const [stores, { run }] = await Promise.all([openStores(settings), import("./run.ts")]);
  await run(settings, stores);
}
