import type { ForbiddenCapture } from "#proto/cairn/v1/namespace_pb.ts";
import type { Notices } from "./notices.ts";

/** What the run would capture by itself. */
export interface WantedCaptures {
  console: boolean;
  code: boolean;
}

/**
 * Capture that the server has forbidden so far. The user learns of each once, if the run would have captured it or
 * has sent it. It is never taken back while the process lives.
 */
export class ForbiddenCaptures {
  readonly #wanted: WantedCaptures;
  readonly #notices: Notices;
  console = false;
  code = false;
  /** Called once when the console is forbidden. */
  onConsole: () => void = () => {};

  constructor(wanted: WantedCaptures, notices: Notices) {
    this.#wanted = wanted;
    this.#notices = notices;
  }

  /** The server has said it, when a run was begun or, with `wasSent`, because it has left something out. */
  learn(forbidden: Pick<ForbiddenCapture, "console" | "code">, wasSent = false): void {
    if (forbidden.console !== "" && !this.console) {
      this.console = true;
      if (wasSent || this.#wanted.console) this.#tell("console", forbidden.console);
      this.onConsole();
    }
    if (forbidden.code !== "" && !this.code) {
      this.code = true;
      if (wasSent || this.#wanted.code) this.#tell("code", forbidden.code);
    }
  }

  #tell(what: "console" | "code", namespace: string): void {
    const lost = what === "console" ? "what is printed is not recorded" : "neither patch nor archive is kept";
    this.#notices.once(
      `forbidden ${what}`,
      `${what} capture is off in namespace "${namespace}": an administrator forbade it; ${lost}`,
    );
  }
}
