import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { ARTIFACT_KINDS, type ArtifactKind, type ArtifactRecord } from "#core/types/artifact.ts";
import { requireAtMost } from "#core/types/check.ts";
import { decodeEntry, expect } from "./series.ts";
import { LENGTH, ProtobufReader, VARINT } from "./protobuf-reader.ts";

/** Decodes the artifacts of one envelope: cairn.v1.ArtifactRecord, one after another. */
export class ArtifactDecoder {
  readonly records: ArtifactRecord[] = [];
  #contentBytes = 0;
  #metadataKeys = 0;

  add(reader: ProtobufReader): void {
    requireAtMost(this.records.length + 1, limits.envelopeArtifactsMax, "artifacts in one envelope");
    let name = "";
    let step: number | undefined;
    let kind = 0;
    let uri = "";
    let content: { start: number; end: number } | undefined;
    let mediaType = "";
    let sha256 = "";
    let sizeBytes: number | undefined;
    const metadata = new Map<string, string>();
    while (reader.more) {
      const tag = reader.tag();
      switch (tag >>> 3) {
        case 1:
          expect(tag, LENGTH);
          name = reader.text("artifact name");
          break;
        case 2:
          expect(tag, VARINT);
          step = reader.int64("step of an artifact");
          break;
        case 3:
          expect(tag, VARINT);
          kind = reader.uint32();
          break;
        case 4:
          expect(tag, LENGTH);
          uri = reader.text("artifact URI");
          break;
        case 5: {
          expect(tag, LENGTH);
          const end = reader.span();
          content = { start: reader.position, end };
          reader.position = end;
          break;
        }
        case 6:
          expect(tag, LENGTH);
          mediaType = reader.text("media type");
          break;
        case 7:
          expect(tag, LENGTH);
          metadata.set(...decodeEntry(reader.message(), "metadata"));
          requireAtMost(++this.#metadataKeys, limits.messageObjectsMax, "metadata in one envelope");
          break;
        case 8:
          expect(tag, LENGTH);
          sha256 = reader.text("SHA-256 of an artifact");
          break;
        case 9:
          expect(tag, VARINT);
          sizeBytes = reader.int64("size of an artifact");
          break;
        default:
          reader.skip(tag);
      }
    }
    this.records.push({
      name,
      step,
      kind: toKind(kind),
      uri: uri === "" ? undefined : uri,
      content: content && this.#copy(reader.bytes, content),
      mediaType,
      metadata,
      sha256: sha256 === "" ? undefined : sha256,
      sizeBytes,
    });
  }

  /** A copy of its own: it must not keep the message in memory. */
  #copy(bytes: Buffer, { start, end }: { start: number; end: number }): Uint8Array {
    requireAtMost(end - start, limits.artifactInlineBytesMax, "bytes of content in one artifact");
    this.#contentBytes += end - start;
    requireAtMost(this.#contentBytes, limits.envelopeContentBytesMax, "bytes of artifacts in one envelope");
    return new Uint8Array(bytes.subarray(start, end));
  }
}

/** 0 is unspecified and means a file. */
function toKind(kind: number): ArtifactKind {
  const name = ARTIFACT_KINDS[Math.max(0, kind - 1)];
  if (name !== undefined) return name;
  throw new CairnError(
    "invalid",
    `cannot accept an artifact of kind ${kind}: the kinds are ${ARTIFACT_KINDS.join(", ")}`,
  );
}
