import { isatty } from "node:tty";
import { pino } from "pino";
import { localSecretFolder } from "./auth/local-secret-file.ts";
import { greeting } from "./greeting.ts";
import { catchUncaught } from "./monitoring/uncaught.ts";
import { serve } from "./serve.ts";
import type { Settings } from "./settings/settings.ts";
import type { Stores } from "./stores.ts";
import { openWebFiles } from "./web/web-files.ts";

const SHUTDOWN_MS = 10_000;
const PARENT_POLL_MS = 500;

/** Serves until a signal ends the process. */
export async function run(settings: Settings, stores: Stores): Promise<void> {
  const log = pino({ level: settings.logLevel, base: null }, pino.destination({ dest: 2, sync: true }));
  const secretFolder = localSecretFolder(process.env);
  const server = await serve(settings, stores, log, {
    web: openWebFiles(),
    localSecretFolder: secretFolder,
  });
  if (server.localSecret !== undefined && secretFolder === undefined) {
    log.warn("no client finds the local secret: this user has no home directory, nor XDG_CONFIG_HOME");
  }
  catchUncaught({ log, onDoubt: (error) => stores.stopWriting(error) });
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
  if (process.env["npm_command"] === "exec") onOrphaned(() => stop("SIGTERM"));
  if (server.reloadCertificate !== undefined) onHangUp(server.reloadCertificate);
  // Last, because a reader of it may stop the server at once.
  process.stdout.write(greeting(server, settings));
}

/** npx passes a signal on only to the shell in which it runs a command: the server would stay, without a parent. */
function onOrphaned(stop: () => void): void {
  const parent = process.ppid;
  const poll = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(poll);
    stop();
  }, PARENT_POLL_MS).unref();
}

/**
 * SIGHUP asks a service to reload. For a program in a terminal it means that the terminal was closed, which ends the
 * program as without a handler.
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
