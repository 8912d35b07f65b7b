import { create, toBinary } from "@bufbuild/protobuf";
import { limits } from "#lang/limits.ts";
import { SourceRefSchema } from "#proto/cairn/v1/lineage_pb.ts";
import { encodeFrame, FRAME_KIND } from "../../spool/frame.ts";
import { describeRequest, type KeyDescription } from "./key-description.ts";
import { quoted, type Notices } from "../notices.ts";
import type { ProvenanceInit } from "../open-request.ts";
import { keyProblem } from "../problems.ts";
import {
  dataProvenance,
  namedProvenance,
  type DataRole,
  type DataVersion,
  type StatedProvenance,
} from "./stated-provenance.ts";

export interface StatementsOptions {
  notices: Notices;
  /** Where the run is; undefined where that is not known here. */
  namespace: string | undefined;
  append(kind: number, frame: Buffer): void;
  /** Takes what is stated into an envelope. */
  state(provenance: ProvenanceInit): void;
}

/** What a program says about its run besides measurements. Nothing here throws: what cannot be kept is reported. */
export class Statements {
  readonly #options: StatementsOptions;

  constructor(options: StatementsOptions) {
    this.#options = options;
  }

  source(id: string, artifact: string): void {
    this.#guarded(`source ${quoted(id)}`, `cannot add source ${quoted(id)}`, () => {
      const problem =
        keyProblem(id, limits.sourceBytesMax) ??
        (artifact === "" ? undefined : keyProblem(artifact, limits.sourceBytesMax));
      if (problem !== undefined) throw new Error(problem);
      this.#append(FRAME_KIND.source, toBinary(SourceRefSchema, create(SourceRefSchema, { id, artifact })));
    });
  }

  data(role: DataRole, location: string, version: DataVersion): void {
    this.#guarded(`data ${quoted(location)}`, "cannot record data", () => {
      this.#options.state(dataProvenance(role, location, version));
    });
  }

  provenance(given: StatedProvenance): void {
    this.#guarded("provenance", "cannot record provenance", () => {
      const stated = namedProvenance(given);
      if (stated !== undefined) this.#options.state(stated);
    });
  }

  describe(key: string, given: KeyDescription): void {
    this.#guarded(`key ${quoted(key)}`, `cannot describe key ${quoted(key)}`, () => {
      const { namespace } = this.#options;
      if (namespace === undefined) {
        throw new Error("the namespace of the run is not known here; give it to init()");
      }
      this.#append(FRAME_KIND.describe, describeRequest(namespace, key, given));
    });
  }

  #append(kind: number, body: Uint8Array): void {
    this.#options.append(kind, encodeFrame(kind, 0, body));
  }

  #guarded(about: string, what: string, work: () => void): void {
    try {
      work();
    } catch (thrown) {
      const cause = thrown instanceof Error ? thrown.message : String(thrown);
      this.#options.notices.once(about, `${what}: ${cause}`);
    }
  }
}
