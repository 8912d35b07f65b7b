import { fromBinary } from "@bufbuild/protobuf";
import type { Provenance } from "#core/types/provenance.ts";
import { ProvenanceSchema } from "#proto/cairn/v1/run_pb.ts";
import { checkBinary } from "../check/binary.ts";
import { toProvenance } from "../map/provenance.ts";
import type { ProtobufReader } from "./protobuf-reader.ts";

/**
 * Collects cairn.v1.Provenance of one envelope. It comes once or twice in the life of a run, so the generic decoder reads
 * it, behind the checks of all other messages.
 */
export class ProvenanceDecoder {
  readonly #pieces: Uint8Array[] = [];

  /** Given in pieces, a message is the sum of them. */
  add({ bytes, position, end }: ProtobufReader): void {
    this.#pieces.push(bytes.subarray(position, end));
  }

  finish(): Provenance {
    const whole = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    checkBinary(ProvenanceSchema, whole);
    return toProvenance(fromBinary(ProvenanceSchema, whole));
  }
}
