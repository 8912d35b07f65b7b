/** Archives that do harm when they are unpacked without care, made by hand: no library would write most of them. */
import { crc32, deflateRawSync, gzipSync, zstdCompressSync, brotliCompressSync } from "node:zlib";

export interface HostileArchive {
  name: string;
  bytes: Buffer;
}

interface ZipEntry {
  name: string;
  content: Buffer;
  /** Unix mode, for links. */
  mode?: number;
  /** What the entry says about its size, where that is a lie. */
  saidBytes?: number;
  deflated?: boolean;
}

function zip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, mode = 0o100644, saidBytes = content.length, deflated = false } of entries) {
    const stored = deflated ? deflateRawSync(content, { level: 9 }) : content;
    const title = Buffer.from(name, "latin1");
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(deflated ? 8 : 0, 4);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(stored.length, 14);
    shared.writeUInt32LE(saidBytes >>> 0, 18);
    shared.writeUInt16LE(title.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), shared, title, stored]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002\u0014\u0003"), shared, tail, title]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, list, end]);
}

interface TarEntry {
  name: string;
  content?: Buffer;
  /** "0" file, "1" hard link, "2" symbolic link, "3" device, "6" pipe. */
  type?: string;
  link?: string;
  mode?: string;
  saidBytes?: number;
}

function tar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(
    ({ name, content = Buffer.alloc(0), type = "0", link = "", mode, saidBytes }) => {
      const head = Buffer.alloc(512);
      head.write(name.slice(0, 100), 0, "latin1");
      head.write(`${mode ?? "0000644"}\u0000`, 100, "latin1");
      head.write("0000000\u00000000000\u0000", 108, "latin1");
      head.write(
        `${(saidBytes ?? content.length).toString(8).padStart(11, "0")}\u000000000000000\u0000`,
        124,
        "latin1",
      );
      head.write(`        ${type}`, 148, "latin1");
      head.write(link.slice(0, 100), 157, "latin1");
      head.write("ustar\u000000", 257, "latin1");
      const sum = head.reduce((total, byte) => total + byte, 0);
      head.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1");
      return [head, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
    },
  );
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const CLIMBING_NAMES = [
  "../canary.txt",
  "../../../../../../../../tmp/cairn-slip.txt",
  "/tmp/cairn-slip.txt",
  "..\\..\\canary.txt",
  "C:\\canary.txt",
  "\\\\host\\share\\canary.txt",
  "a/../../canary.txt",
  "./../canary.txt",
  "canary.txt\u0000.png",
  "~/.ssh/authorized_keys",
  "CON",
  "a".repeat(99),
];

const EVIL = Buffer.from("overwritten by an archive");
const ZEROS = Buffer.alloc(8 << 20);

type Add = (name: string, bytes: Buffer) => void;

/** `canary` is the path of a file that must not change. */
export function hostileArchives(canary: string): HostileArchive[] {
  const archives: HostileArchive[] = [];
  const add: Add = (name, bytes) => void archives.push({ name, bytes });
  addClimbing(add);
  addLinks(add, canary);
  addBombs(add);
  addMalformed(add);
  return archives;
}

function addClimbing(add: Add): void {
  for (const [i, name] of CLIMBING_NAMES.entries()) {
    add(`slip-${i}.zip`, zip([{ name, content: EVIL }]));
    add(`slip-${i}.tar`, tar([{ name, content: EVIL }]));
  }
}

function addLinks(add: Add, canary: string): void {
  const link = { name: "way-out", content: Buffer.from(canary), mode: 0o120777 };
  add("link.zip", zip([link, { name: "way-out", content: EVIL }]));
  add(
    "link-folder.zip",
    zip([
      { ...link, content: Buffer.from("/") },
      { name: "way-out/tmp/x", content: EVIL },
    ]),
  );
  add(
    "link.tar",
    tar([
      { name: "l", type: "2", link: canary },
      { name: "l", content: EVIL },
    ]),
  );
  add(
    "link-folder.tar",
    tar([
      { name: "l", type: "2", link: "/" },
      { name: "l/tmp/x", content: EVIL },
    ]),
  );
  add(
    "link-up.tar",
    tar([
      { name: "l", type: "2", link: "../.." },
      { name: "l/canary.txt", content: EVIL },
    ]),
  );
  add(
    "hard-link.tar",
    tar([
      { name: "h", type: "1", link: canary },
      { name: "h", content: EVIL },
    ]),
  );
  add("hard-link-up.tar", tar([{ name: "h", type: "1", link: "../canary.txt" }]));
  add(
    "link-loop.tar",
    tar([
      { name: "a", type: "2", link: "b" },
      { name: "b", type: "2", link: "a" },
    ]),
  );
  add(
    "device.tar",
    tar([
      { name: "disk", type: "3" },
      { name: "pipe", type: "6" },
    ]),
  );
}

function addBombs(add: Add): void {
  add("bomb.zip", zip([{ name: "zeros", content: ZEROS, deflated: true }]));
  const many = Array.from({ length: 200 }, (_, i) => ({
    name: `z${i}`,
    content: ZEROS.subarray(0, 1 << 20),
    deflated: true,
  }));
  add("bombs.zip", zip(many));
  const inner = zip([{ name: "zeros", content: ZEROS, deflated: true }]);
  add(
    "nested.zip",
    zip(Array.from({ length: 16 }, (_, i) => ({ name: `${i}.zip`, content: inner, deflated: true }))),
  );
  add("bomb.tar.gz", gzipSync(tar([{ name: "zeros", content: ZEROS }]), { level: 9 }));
  add("bomb.gz", gzipSync(ZEROS, { level: 9 }));
  add("bomb-twice.gz", gzipSync(gzipSync(ZEROS, { level: 9 }), { level: 9 }));
  add("bombs.gz", Buffer.concat(Array.from({ length: 8 }, () => gzipSync(ZEROS, { level: 9 }))));
  add("bomb.zst", zstdCompressSync(ZEROS));
  add("bomb.br", brotliCompressSync(ZEROS));
}

/** Sizes and names that are wrong, and archives that are cut off or two things at once. */
function addMalformed(add: Add): void {
  add("setuid.tar", tar([{ name: "sh", content: EVIL, mode: "0006755" }]));
  add("lying-size.tar", tar([{ name: "x", content: EVIL, saidBytes: 2 ** 32 }]));
  add("lying-size.zip", zip([{ name: "x", content: EVIL, saidBytes: 0xffff_ffff }]));
  add("no-size.zip", zip([{ name: "x", content: ZEROS, saidBytes: 0, deflated: true }]));
  add(
    "twice.zip",
    zip([
      { name: "x", content: EVIL },
      { name: "x", content: ZEROS.subarray(0, 10) },
    ]),
  );
  add("empty-name.zip", zip([{ name: "", content: EVIL }]));
  add("cut.zip", zip([{ name: "x", content: EVIL }]).subarray(0, -30));
  add("cut.gz", gzipSync(ZEROS).subarray(0, 200));
  add(
    "polyglot.zip.html",
    Buffer.concat([Buffer.from("<script>1</script>"), zip([{ name: "x", content: EVIL }])]),
  );
  add("endless-name.tar", tar([{ name: "././@LongLink", type: "L", content: Buffer.alloc(1 << 20, "a/") }]));
}
