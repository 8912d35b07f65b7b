import { readdirSync } from "node:fs";
import { join } from "node:path";

const SEGMENT_NAME = /^(\d{8,})\.frames$/;

export interface SegmentFile {
  number: number;
  path: string;
}

export function segmentPath(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(8, "0")}.frames`);
}

/** Of one writer, from the oldest on. */
export function listSegments(folder: string): SegmentFile[] {
  const found: SegmentFile[] = [];
  for (const name of readdirSync(folder)) {
    const number = SEGMENT_NAME.exec(name)?.[1];
    if (number !== undefined) found.push({ number: Number(number), path: join(folder, name) });
  }
  return found.sort((a, b) => a.number - b.number);
}

const WRITER_NAME = /^[0-9a-f]{32}$/;

/** The folders of writers in a spool; none when there is no spool. */
export function listWriters(spool: string): string[] {
  let names: string[];
  try {
    names = readdirSync(spool);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw thrown;
  }
  return names.filter((name) => WRITER_NAME.test(name)).sort();
}

export function isWriterName(name: string): boolean {
  return WRITER_NAME.test(name);
}
