/** The relevant events of strace, in order. */
export interface Event {
  kind: "log write" | "log synced" | "reply";
  /** The marks that the bytes contain. */
  marks: string[];
}

const LOG = "cairn.db-wal";

/**
 * A call of one thread may be interrupted by those of others: its beginning says "<unfinished ...>" and
 * its end "<... fsync resumed>". A write counts from its beginning, since its bytes may be out from then
 * on; a sync from its end, since nothing is safe before.
 */
export function findEvents(trace: string, marks: readonly string[]): Event[] {
  const events: Event[] = [];
  const syncing = new Map<string, boolean>();
  for (const line of trace.split("\n")) {
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (thread === undefined || rest === undefined) continue;
    const call = /^(\w+)\((\d+)<([^>]*(?:->[^>]*)?)>/.exec(rest);
    if (call === null) {
      const resumed = /^<\.\.\. (?:fsync|fdatasync) resumed>\) += 0$/.test(rest);
      if (resumed && syncing.get(thread) === true) events.push({ kind: "log synced", marks: [] });
      syncing.delete(thread);
      continue;
    }
    const [, name, , target] = call;
    const toLog = plain(target!).endsWith(LOG);
    if (name === "fsync" || name === "fdatasync") {
      if (rest.endsWith("<unfinished ...>")) syncing.set(thread, toLog);
      else if (toLog && /\) += 0$/.test(rest)) events.push({ kind: "log synced", marks: [] });
      continue;
    }
    const bytes = bytesIn(rest);
    if (toLog) events.push({ kind: "log write", marks: marks.filter((mark) => bytes.includes(mark)) });
    else if (target!.startsWith("TCP") && isReply(bytes)) events.push({ kind: "reply", marks: [] });
  }
  return events;
}

/** Bytes in hex, as -xx writes them, anywhere in the call. */
function bytesIn(text: string): Buffer {
  const pieces = text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g);
  return Buffer.concat([...pieces].map(([, piece]) => Buffer.from(piece!.replaceAll("\\x", ""), "hex")));
}

function plain(target: string): string {
  return target.includes("\\x") ? bytesIn(`"${target}"`).toString() : target;
}

/** An answer of HTTP/1, or headers among frames of HTTP/2: others, such as of flow control, say nothing. */
function isReply(bytes: Buffer): boolean {
  if (bytes.subarray(0, 5).toString() === "HTTP/") return true;
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] === 1) return true;
  }
  return false;
}
