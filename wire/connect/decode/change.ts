import { limits } from "#lang/limits.ts";
import { requireAtMost } from "#core/types/check.ts";
import type { RunChange } from "#core/types/run.ts";
import { toStatus } from "../map/run.ts";
import { LENGTH, type ProtobufReader, VARINT } from "./protobuf-reader.ts";
import { ProvenanceDecoder } from "./provenance.ts";
import { decodeEntry, expect } from "./series.ts";

/** Decodes the fields of cairn.v1.Envelope that change the run. */
export class ChangeDecoder {
  #params: Map<string, string> | undefined;
  #tags: Map<string, string> | undefined;
  #status = 0;
  #heartbeatSeconds = 0;
  #endedUs = 0;
  #captured: ProvenanceDecoder | undefined;
  #stated: ProvenanceDecoder | undefined;

  /** False, with nothing read, for a field that is not one of them. */
  add(tag: number, reader: ProtobufReader): boolean {
    switch (tag >>> 3) {
      case 5:
        expect(tag, LENGTH);
        (this.#params ??= new Map()).set(...decodeEntry(reader.message(), "param"));
        requireAtMost(this.#params.size, limits.paramsPerRunMax, "params");
        return true;
      case 6:
        expect(tag, LENGTH);
        (this.#tags ??= new Map()).set(...decodeEntry(reader.message(), "tag"));
        requireAtMost(this.#tags.size, limits.tagsPerRunMax, "tags");
        return true;
      case 7:
        expect(tag, VARINT);
        this.#status = reader.uint32();
        return true;
      case 9:
        expect(tag, VARINT);
        this.#heartbeatSeconds = reader.uint32();
        return true;
      case 10:
        expect(tag, VARINT);
        this.#endedUs = reader.int64("end time");
        return true;
      case 14:
        expect(tag, LENGTH);
        (this.#captured ??= new ProvenanceDecoder()).add(reader.message());
        return true;
      case 15:
        expect(tag, LENGTH);
        (this.#stated ??= new ProvenanceDecoder()).add(reader.message());
        return true;
      default:
        return false;
    }
  }

  /** undefined when none of its fields was set. */
  finish(): RunChange | undefined {
    const change: RunChange = {
      ...(this.#params !== undefined && { params: this.#params }),
      ...(this.#tags !== undefined && { tags: this.#tags }),
      ...(this.#status !== 0 && { status: toStatus(this.#status)! }),
      ...(this.#heartbeatSeconds !== 0 && { heartbeatSeconds: this.#heartbeatSeconds }),
      ...(this.#endedUs !== 0 && { endedUs: this.#endedUs }),
      ...(this.#captured !== undefined && { captured: this.#captured.finish() }),
      ...(this.#stated !== undefined && { addProvenance: this.#stated.finish() }),
    };
    return Object.keys(change).length > 0 ? change : undefined;
  }
}
