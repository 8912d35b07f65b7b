import { isatty } from "node:tty";
import { pino } from "pino";
import { CairnError } from "#core/errors.ts";
import { serve, type Server } from "./serve.ts";
import { catchUncaught } from "./uncaught.ts";
import { openWebFiles } from "./web-files.ts";
import { isInClear, MEMORY, readCommand, type Settings } from "./settings.ts";

const SHUTDOWN_MS = 10_000;

try {
  const command = readCommand(process.argv.slice(2), process.env);
  if (command.do === "print") process.stdout.write(`${command.text.trimEnd()}\n`);
  else await run(command.settings);
} catch (thrown) {
  const { message, hint, code, stack } = CairnError.from(thrown);
  process.stderr.write(`cairn: ${message}\n${hint === undefined ? "" : `  ${hint}\n`}`);
  if (code === "internal") process.stderr.write(`${stack}\n`);
  process.exitCode = 1;
}

async function run(settings: Settings): Promise<void> {
  // What training jobs record is nobody else's business: files are for this user alone.
  process.umask(0o077);
  const log = pino({ level: settings.logLevel, base: null }, pino.destination({ dest: 2, sync: true }));
  const server = await serve(settings, log, { web: openWebFiles() });
  catchUncaught({ log, onDoubt: (error) => server.stores.stopWriting(error) });
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => {
      log.error("could not finish in time");
      process.exit(1);
    }, SHUTDOWN_MS).unref();
    server.close().then(
      () => process.exit(0),
      (thrown: unknown) => {
        log.error({ err: thrown }, "could not stop cleanly");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
  if (server.reloadCertificate !== undefined) onHangUp(server.reloadCertificate);
  // Last: whoever reads it may stop the server at once.
  greet(server, settings);
}

/**
 * SIGHUP asks a service to reload. To a program in a terminal it says that the terminal was closed, which ends the program as if
 * there were no handler.
 */
function onHangUp(reload: () => Promise<void>): void {
  const hadTerminal = isatty(0);
  const onSignal = (): void => {
    if (!hadTerminal || isatty(0)) {
      void reload();
      return;
    }
    process.off("SIGHUP", onSignal);
    process.kill(process.pid, "SIGHUP");
  };
  process.on("SIGHUP", onSignal);
}

function greet({ listening, newToken }: Server, settings: Settings): void {
  const lines = [
    `Cairn is listening on ${listening.url}`,
    settings.data === MEMORY
      ? "Nothing is written to disk: all is gone when it stops."
      : `Data: ${settings.data}`,
  ];
  if (settings.insecure) lines.push("Everybody who can reach this address may do everything (--insecure).");
  if (isInClear(settings)) {
    lines.push("WARNING: without TLS, tokens and data cross the network in clear, and others can read them.");
    lines.push(
      "Give --tls-cert and --tls-key, or put a proxy with TLS in front and give --public-url https://….",
    );
  }
  if (newToken !== undefined) {
    lines.push(`Admin token, shown only this once: ${newToken}`);
    lines.push("Send it as `authorization: Bearer TOKEN`.");
    lines.push(
      "Make a better one with it (`cairn token create`, or a password): then it ends, at the latest in 7 days.",
    );
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}
