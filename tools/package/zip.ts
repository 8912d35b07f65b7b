/**
 * Writes ZIP archives that are the same bytes for the same content: entries in the given order, all with the same
 * time and mode, deflated at the highest level.
 *
 * An archive is a list of local headers, each followed by its content, then the same list again without content (the
 * central directory), and a last record that says where that list begins.
 */
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  /** With `/` between folders. */
  path: string;
  content: Uint8Array;
}

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
const VERSION_NEEDED = 20;
/** Unix, so that the mode counts. */
const VERSION_MADE_BY = (3 << 8) | VERSION_NEEDED;
const NAMES_ARE_UTF8 = 0x0800;
const DEFLATED = 8;
const STORED = 0;
/** 1980-01-01, the first day that the format knows. */
const FIRST_DAY = (1 << 5) | 1;
/** A regular file that its owner may write and all may read. */
const FILE_MODE = 0o100_644;
const ENTRIES_MAX = 0xfffe;
const BYTES_MAX = 0xffff_fffe;

export function zip(entries: readonly ZipEntry[]): Buffer {
  if (entries.length > ENTRIES_MAX) throw new Error(`${entries.length} files are too many for a ZIP archive`);
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of entries) {
    const deflated = deflateRawSync(content, { level: 9 });
    const isSmaller = deflated.length < content.length;
    const stored = isSmaller ? deflated : Buffer.from(content);
    const name = Buffer.from(path);
    // What both headers say, from the version to the length of the name.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(VERSION_NEEDED, 0);
    facts.writeUInt16LE(NAMES_ARE_UTF8, 2);
    facts.writeUInt16LE(isSmaller ? DEFLATED : STORED, 4);
    facts.writeUInt16LE(FIRST_DAY, 8);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(stored.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(LOCAL_HEADER);
    bodies.push(head, facts, name, stored);
    directory.push(centralHeader(facts, name, offset));
    offset += head.length + facts.length + name.length + stored.length;
    if (offset > BYTES_MAX) throw new Error(`${offset} bytes are too many for a ZIP archive`);
  }
  const list = Buffer.concat(directory);
  return Buffer.concat([...bodies, list, end(entries.length, list.length, offset)]);
}

function centralHeader(facts: Buffer, name: Buffer, offset: number): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt32LE(CENTRAL_HEADER, 0);
  head.writeUInt16LE(VERSION_MADE_BY, 4);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(FILE_MODE * 0x1_0000, 6);
  tail.writeUInt32LE(offset, 10);
  return Buffer.concat([head, facts, tail, name]);
}

function end(entries: number, directoryBytes: number, offset: number): Buffer {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(END, 0);
  record.writeUInt16LE(entries, 8);
  record.writeUInt16LE(entries, 10);
  record.writeUInt32LE(directoryBytes, 12);
  record.writeUInt32LE(offset, 16);
  return record;
}
