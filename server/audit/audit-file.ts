/** The audit outside the server, as docs/formats/audit.md has it: entries as JSON lines, and signed heads. */
import { z } from "zod";
import { chainHash, CHAIN_START } from "#core/access/audit/audit-chain.ts";
import { isSigned, type SignedAuditHead } from "#core/access/audit/audit-head.ts";

export type { SignedAuditHead };

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const Line = z.strictObject({
  number: z.int().positive(),
  time_us: z.int(),
  principal: z.string(),
  token: z.string(),
  address: z.string(),
  action: z.string(),
  target: z.string(),
  facts: z.record(z.string(), z.string()),
  hash: Hash,
});
const Head = z.strictObject({
  count: z.int().nonnegative(),
  hash: Hash,
  time_us: z.int(),
  server: z.string(),
  public_key: z.string(),
  signature: z.string(),
});

export interface CheckedFile {
  /** Numbers of the first and the last entry; 0 when there is none. */
  first: number;
  last: number;
  /** As texts; the first one names the first altered line. */
  problems: string[];
}

const PROBLEMS_MAX = 100;

/** One head per document, as `headLine` writes it. Throws when the text is not one, or was not signed by its key. */
export function parseHead(text: string): SignedAuditHead {
  const parsed = Head.safeParse(parseJson(text));
  if (!parsed.success) throw new Error("it is not a head of an audit");
  const { time_us: timeUs, public_key: publicKey, ...rest } = parsed.data;
  const head = { ...rest, timeUs, publicKey };
  if (!isSigned(head)) throw new Error("its signature is invalid");
  return head;
}

export function headLine({ timeUs, publicKey, signature, ...head }: SignedAuditHead): string {
  return JSON.stringify({ ...head, time_us: timeUs, public_key: publicKey, signature });
}

/**
 * Recomputes the chain from the lines alone. An export that does not begin with entry 1 is checked from its second
 * entry on. With `head` the entry it names must be there and have its hash.
 */
export async function checkAuditFile(
  lines: AsyncIterable<string>,
  head?: SignedAuditHead,
): Promise<CheckedFile> {
  const problems: string[] = [];
  let first = 0;
  let last = 0;
  let previous: string | undefined;
  let atHead: string | undefined;
  let lineNumber = 0;
  for await (const text of lines) {
    lineNumber++;
    if (text === "") continue;
    const parsed = Line.safeParse(parseJson(text));
    if (!parsed.success) {
      problems.push(`line ${lineNumber} is not an entry of an audit`);
    } else {
      const { number, time_us: timeUs, hash, ...record } = parsed.data;
      if (first === 0) first = number;
      if (last > 0 && number !== last + 1) {
        problems.push(`entry ${last + 1} is missing: entry ${number} comes after entry ${last}`);
      } else {
        const before = number === 1 ? CHAIN_START : previous;
        if (before !== undefined && chainHash(before, number, { ...record, timeUs }) !== hash) {
          problems.push(`entry ${number} was altered`);
        }
      }
      if (number === head?.count) atHead = hash;
      last = number;
      previous = hash;
    }
    if (problems.length >= PROBLEMS_MAX) return { first, last, problems };
  }
  if (last === 0 && problems.length === 0) problems.push("the file has no entries");
  if (head !== undefined && head.count > 0 && atHead !== head.hash) {
    problems.push(
      atHead === undefined
        ? `entry ${head.count}, which the head names, is not in the file`
        : `entry ${head.count} has another hash than the head`,
    );
  }
  return { first, last, problems };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
