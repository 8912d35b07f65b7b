import { create, toBinary } from "@bufbuild/protobuf";
import { createHash } from "node:crypto";
import {
  constants,
  createReadStream,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { ArtifactRecordSchema } from "#proto/cairn/v1/artifact_pb.ts";
import type { UploadOrder } from "../delivery/upload.ts";
import { encodeFrame, FRAME_KIND } from "../spool/frame.ts";
import { jsonText } from "./json-text.ts";
import { limits } from "#lang/limits.ts";
import { ARTIFACT_KINDS, guessMedia, type ArtifactKindName } from "./media-types.ts";
import { quoted, type Notices } from "./notices.ts";
import { artifactNameProblem, keyProblem } from "./problems.ts";
import type { ParamValues } from "./params.ts";

export interface ArtifactOptions {
  kind?: ArtifactKindName | undefined;
  step?: number | bigint | undefined;
  /** Such as "image/png"; guessed from the name when absent. */
  mediaType?: string | undefined;
}

export interface MediaOptions extends ArtifactOptions {
  metadata?: ParamValues | undefined;
}

export interface FilesOptions {
  notices: Notices;
  /** The folder of the writer in the spool. */
  folder: string;
  record(record: Uint8Array): void;
  append(kind: number, frame: Buffer): void;
}

interface Head {
  name: string;
  kind: ArtifactKindName;
  step: number | undefined;
  mediaType: string;
  metadata: Record<string, string>;
}

const UPLOAD_METADATA_MAX = 8 << 10;

const URI = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//;

/**
 * Files of a run. Small ones travel in an envelope. Large ones are linked or copied into the spool, so that they are
 * still there when their turn comes, and uploaded. Nothing here throws.
 */
export class Files {
  readonly #options: FilesOptions;
  readonly #preparing = new Set<Promise<void>>();
  #count = 0;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** How many are being prepared: neither in the spool nor dropped. */
  get preparing(): number {
    return this.#preparing.size;
  }

  async prepared(): Promise<void> {
    await Promise.all(this.#preparing);
  }

  /** A location stays where it is; the file of a path is kept as it is now, as far as the disk can do that. */
  async artifact(
    name: string,
    pathOrUri: string,
    metadata: ParamValues,
    options: ArtifactOptions,
  ): Promise<void> {
    await this.#guarded(name, async () => {
      const head = this.#headOf(name, metadata, options, {});
      if (typeof pathOrUri !== "string") throw new Error("give the path of a file, or a location");
      if (URI.test(pathOrUri)) {
        const problem = keyProblem(pathOrUri, limits.artifactUriBytesMax);
        if (problem !== undefined) throw new Error(problem);
        this.#record(head, { uri: pathOrUri });
        return;
      }
      await this.#file(head, resolve(pathOrUri), "link");
    });
  }

  /** Content at a step, by default the last one: bytes, or the path of a file, which is copied at once. */
  async media(
    name: string,
    content: string | Uint8Array,
    options: MediaOptions,
    lastStep: number | undefined,
  ): Promise<void> {
    await this.#guarded(name, async () => {
      if (typeof content !== "string" && !(content instanceof Uint8Array)) {
        throw new Error("give its bytes, or the path of a file");
      }
      const guess = guessMedia(typeof content === "string" ? content : "", name, options.mediaType ?? "");
      const { metadata = {}, kind, mediaType, step = lastStep } = options;
      const head = this.#headOf(name, metadata, { kind, mediaType, step }, guess);
      if (typeof content === "string") await this.#file(head, resolve(content), "copy");
      else if (content.byteLength <= limits.artifactInlineBytesMax) this.#record(head, { content });
      else {
        const sha256 = createHash("sha256").update(content).digest("hex");
        const incoming = this.#incoming();
        writeFileSync(incoming, content, { mode: 0o600 });
        this.#spooled(head, incoming, sha256, content.byteLength, "");
      }
    });
  }

  /** Begins at once and never rejects; `finish` waits for it. */
  #guarded(name: string, work: () => Promise<void>): Promise<void> {
    const done = (async () => {
      try {
        await work();
      } catch (thrown) {
        const cause = thrown instanceof Error ? thrown.message : String(thrown);
        const shown = quoted(name);
        this.#options.notices.once(`artifact ${shown}`, `cannot record artifact ${shown}: ${cause}`);
      }
    })();
    this.#preparing.add(done);
    void done.then(() => this.#preparing.delete(done));
    return done;
  }

  #headOf(
    name: string,
    metadata: ParamValues,
    { kind, step, mediaType }: ArtifactOptions,
    guess: { mediaType?: string; kind?: ArtifactKindName },
  ): Head {
    if (typeof name !== "string") throw new Error("its name is not a text");
    const problem = artifactNameProblem(name);
    if (problem !== undefined) throw new Error(problem);
    if (kind !== undefined && !Object.hasOwn(ARTIFACT_KINDS, kind)) {
      throw new Error(`kind ${quoted(kind)} is not among ${Object.keys(ARTIFACT_KINDS).join(", ")}`);
    }
    const at = step === undefined ? undefined : Number(step);
    if (at !== undefined && !Number.isSafeInteger(at))
      throw new Error(`step ${quoted(step)} is not a whole number`);
    return {
      name,
      kind: kind ?? guess.kind ?? "file",
      step: at,
      mediaType: mediaType ?? guess.mediaType ?? "",
      metadata: metadataTexts(metadata),
    };
  }

  async #file(head: Head, path: string, keep: "link" | "copy"): Promise<void> {
    const found = statSync(path);
    if (!found.isFile()) throw new Error(`"${path}" is not a file`);
    if (found.size <= limits.artifactInlineBytesMax) {
      const content = readFileSync(path);
      if (content.length <= limits.artifactInlineBytesMax) {
        this.#record(head, { content });
        return;
      }
    }
    const kept = await this.#keep(path, keep);
    const source = kept ?? path;
    const { sha256, sizeBytes } = await digestOf(source);
    if (kept !== undefined) this.#spooled(head, kept, sha256, sizeBytes, path);
    else this.#order(head, { path, spooled: false, sha256, sizeBytes });
  }

  /** undefined where it can be neither linked nor copied: then it is read where it is. */
  async #keep(path: string, how: "link" | "copy"): Promise<string | undefined> {
    try {
      const incoming = this.#incoming();
      if (how === "link") linkSync(path, incoming);
      else await copyFile(path, incoming, constants.COPYFILE_FICLONE);
      return incoming;
    } catch {
      return undefined;
    }
  }

  #incoming(): string {
    const folder = join(this.#options.folder, "files");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return join(folder, `incoming-${++this.#count}`);
  }

  #spooled(head: Head, incoming: string, sha256: string, sizeBytes: number, path: string): void {
    renameSync(incoming, join(this.#options.folder, "files", sha256));
    // A link to the same file stays under its old name.
    rmSync(incoming, { force: true });
    this.#order(head, { path, spooled: true, sha256, sizeBytes });
  }

  #order(head: Head, place: Pick<UploadOrder, "path" | "spooled" | "sha256" | "sizeBytes">): void {
    // Of an upload it travels in a header, and all headers together have 32 KiB.
    if (JSON.stringify(head.metadata).length > UPLOAD_METADATA_MAX)
      throw new Error("its metadata has more than 8 KiB");
    const order: UploadOrder = { ...head, step: head.step ?? null, ...place };
    this.#options.append(
      FRAME_KIND.upload,
      encodeFrame(FRAME_KIND.upload, 0, Buffer.from(JSON.stringify(order))),
    );
  }

  #record(
    { name, kind, step, mediaType, metadata }: Head,
    place: { uri: string } | { content: Uint8Array },
  ): void {
    const record = create(ArtifactRecordSchema, {
      name,
      kind: ARTIFACT_KINDS[kind],
      ...(step !== undefined && { step: BigInt(step) }),
      mediaType,
      metadata,
      ...place,
    });
    this.#options.record(toBinary(ArtifactRecordSchema, record));
  }
}

function metadataTexts(metadata: ParamValues): Record<string, string> {
  const texts = new Map<string, string>();
  let sizeBytes = 2;
  for (const [key, value] of Object.entries(metadata)) {
    if (value === undefined) continue;
    const problem = keyProblem(key);
    if (problem !== undefined) throw new Error(`metadata key ${quoted(key)}: ${problem}`);
    const text = jsonText(value);
    texts.set(key, text);
    sizeBytes += Buffer.byteLength(JSON.stringify(key)) + Buffer.byteLength(text) + 2;
  }
  if (sizeBytes > limits.artifactMetadataBytesMax) throw new Error("its metadata has more than 64 KiB");
  return Object.fromEntries(texts);
}

async function digestOf(path: string): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  await pipeline(
    createReadStream(path, { highWaterMark: 1 << 20 }),
    async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) {
        hash.update(piece);
        sizeBytes += piece.length;
      }
    },
  );
  return { sha256: hash.digest("hex"), sizeBytes };
}
