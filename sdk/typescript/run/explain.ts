import { Code } from "@connectrpc/connect";
import type { DeliveryOptions } from "../delivery/delivery.ts";
import type { Failure } from "../failure.ts";
import { signInHint } from "../sign-in-hint.ts";
import type { SpoolEvent } from "../spool/spool.ts";
import type { Notices } from "./notices.ts";

/** Explains once why nothing arrives, and that training continues. */
export function explainFailure(
  notices: Notices,
  failure: Failure,
  what: "frames" | "files",
  { url, folder }: { url: string; folder: string },
): void {
  const { code, message, hint } = failure;
  const kept = `everything is kept in ${folder}`;
  if (code === Code.Unauthenticated || code === Code.PermissionDenied) {
    // The server does not know how this program was set up, nor under which address it is known here.
    const way = code === Code.Unauthenticated || hint === "" ? signInHint(url) : hint;
    notices.once(`refused ${what}`, `${url} refuses this run: ${message}\n  ${way}; meanwhile ${kept}`);
    return;
  }
  if (what === "files") {
    notices.once("files", `cannot upload files to ${url}: ${message}; retrying`);
    return;
  }
  notices.once("away", `${message}\n  the job continues; ${kept} and sent when the server accepts it`);
}

/** What will never be delivered. */
export function explainDelivery(notices: Notices): Pick<DeliveryOptions, "onRefused" | "onLost"> {
  return {
    onRefused: (what, why, kept) => {
      const where = kept === undefined ? "" : `; it is kept in ${kept}`;
      notices.once(`refused ${why}`, `the server refuses ${what}: ${why}${where}`);
    },
    onLost: ({ first, last }) =>
      notices.once(
        "lost",
        `envelopes ${first} to ${last} of this run are lost; \`cairn verify\` shows how many in all`,
      ),
  };
}

/** What happens to the spool itself. */
export function explainSpool(notices: Notices, event: SpoolEvent): void {
  switch (event.kind) {
    case "disk-failed": {
      const { code, message } = event.error as NodeJS.ErrnoException;
      const cause = code === "ENOSPC" ? "the disk is full" : message;
      notices.once(
        "disk",
        `cannot write the spool "${event.folder}": ${cause}\n  the job continues, and up to 64 MiB are kept in memory; choose another place with CAIRN_SPOOL`,
      );
      break;
    }
    case "disk-back":
      notices.forget("disk");
      notices.show(`the spool "${event.folder}" can be written again; nothing is kept in memory any more`);
      break;
    default: {
      const why = {
        cap: "the spool has reached its limit",
        memory: "memory for it is full",
        gone: "its file is gone or damaged",
      };
      notices.once(
        `lost ${event.why}`,
        `${event.envelopes} envelopes and ${event.others} files or sources of this run are lost: ${why[event.why]}; the run will show how many in all`,
      );
    }
  }
}
