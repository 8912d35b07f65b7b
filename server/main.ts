import { CairnError } from "#lang/errors.ts";
import { readCommand, type Settings } from "./settings/settings.ts";
import { openStores } from "./stores.ts";

try {
  const command = readCommand(process.argv.slice(2), process.env);
  if (command.do === "print") process.stdout.write(`${command.text.trimEnd()}\n`);
  else await start(command.settings);
} catch (thrown) {
  const { message, hint, code, reason = "", cause, stack } = CairnError.from(thrown);
  process.stderr.write(`cairn: ${message}\n${hint === undefined ? "" : `  ${hint}\n`}`);
  const isDefect = code === "internal" || reason.endsWith("_ENDED");
  if (isDefect) process.stderr.write(`${cause instanceof Error ? cause.stack : stack}\n`);
  process.exitCode = 1;
}

async function start(settings: Settings): Promise<void> {
  // Recorded data is private: files are readable only by this user.
  process.umask(0o077);
  const opening = openStores(settings);
  try {
    // The threads of the stores start while this one loads the rest, which takes longest.
    const [stores, { run }] = await Promise.all([opening, import("./run.ts")]);
    await run(settings, stores);
  } catch (thrown) {
    // Their threads would keep the process alive. Why the start failed is reported, not what follows from that.
    await opening.then((stores) => stores.close()).catch(() => undefined);
    throw thrown;
  }
}
