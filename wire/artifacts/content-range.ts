import { CairnError, quote } from "#lang/errors.ts";

/** The `content-range` of a request: which piece is sent, or only the total size. */
export interface ContentRange {
  totalBytes: number;
  // undefined for "bytes */TOTAL", which asks how much was received.
  piece: { start: number; sizeBytes: number } | undefined;
}

// "bytes A-B/TOTAL" or "bytes */TOTAL". Throws `invalid`.
export function parseContentRange(header: string): ContentRange {
  const match = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15})$/i.exec(header.trim());
  const totalBytes = Number(match?.[3]);
  if (match === null || totalBytes < 1) throw refusal(header);
  if (match[1] === undefined) return { totalBytes, piece: undefined };
  const [start, last] = [Number(match[1]), Number(match[2])];
  if (start > last || last >= totalBytes) throw refusal(header);
  return { totalBytes, piece: { start, sizeBytes: last - start + 1 } };
}

function refusal(header: string): CairnError {
  return new CairnError("invalid", `cannot use content-range ${quote(header)}`, {
    reason: "INVALID_RANGE",
    hint: 'write "bytes 0-1048575/4194304" with the positions of the first and the last byte and the size of all, or "bytes */4194304" to ask how much was received',
  });
}
