import { isUtf8 } from "node:buffer";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost } from "#core/types/check.ts";
import {
  DEFAULT_STREAM,
  LOG_ORIGINS,
  requireLineBytes,
  unevenLines,
  type LogLines,
  type LogOrigin,
} from "#core/types/log.ts";
import { expect } from "./series.ts";
import { LENGTH, ProtobufReader, VARINT } from "./protobuf-reader.ts";

/** Decodes the lines of one envelope: cairn.v1.LogLines, group by group, into columns. */
export class LogDecoder {
  readonly groups: LogLines[] = [];
  #lines = 0;

  add(reader: ProtobufReader): void {
    requireAtMost(this.groups.length + 1, limits.envelopeLinesMax, "groups of lines in one envelope");
    let origin = 0;
    let stream = "";
    let rank: number | undefined;
    let written = false;
    const times: number[] = [];
    /** Where each line begins and ends in the message. */
    const spans: number[] = [];
    let size = 0;
    while (reader.more) {
      const tag = reader.tag();
      switch (tag >>> 3) {
        case 1:
          expect(tag, VARINT);
          origin = reader.uint32();
          break;
        case 2:
          expect(tag, LENGTH);
          stream = reader.text("log stream");
          break;
        case 3:
          expect(tag, VARINT);
          // As protobuf has it, a negative one comes in 64 bits.
          rank = reader.int64("rank");
          break;
        case 4:
          this.#readTimes(reader, tag, times);
          break;
        case 5: {
          expect(tag, LENGTH);
          const end = reader.span();
          requireLineBytes(end - reader.position);
          this.#count(1);
          spans.push(reader.position, end);
          size += end - reader.position;
          reader.position = end;
          break;
        }
        case 6:
          expect(tag, VARINT);
          written = reader.uint32() !== 0;
          break;
        default:
          reader.skip(tag);
      }
    }
    const name = stream === "" ? DEFAULT_STREAM : stream;
    if (times.length > 0 && times.length !== spans.length / 2) {
      throw unevenLines(name, times.length, spans.length / 2);
    }
    this.groups.push({
      origin: toOrigin(origin),
      stream: name,
      rank,
      times: times.length === 0 ? undefined : Float64Array.from(times),
      ...copyLines(reader.bytes, spans, size),
      ...(written && { written }),
    });
  }

  #readTimes(reader: ProtobufReader, tag: number, times: number[]): void {
    if ((tag & 7) !== LENGTH) {
      expect(tag, VARINT);
      addTime(times, reader);
      return;
    }
    const packed = reader.message();
    while (packed.more) addTime(times, packed);
  }

  #count(lines: number): void {
    this.#lines += lines;
    requireAtMost(this.#lines, limits.envelopeLinesMax, "log lines in one envelope");
  }
}

function addTime(times: number[], reader: ProtobufReader): void {
  requireAtMost(times.length + 1, limits.envelopeLinesMax, "times of log lines in one envelope");
  times.push(reader.sint64("time of a log line"));
}

function copyLines(
  bytes: Buffer,
  spans: readonly number[],
  size: number,
): { lengths: Uint32Array; text: Uint8Array } {
  const lengths = new Uint32Array(spans.length / 2);
  const text = new Uint8Array(size);
  let at = 0;
  let whole = true;
  for (let i = 0; i < lengths.length; i++) {
    const start = spans[2 * i]!;
    const end = spans[2 * i + 1]!;
    lengths[i] = end - start;
    // A line must not begin within a character: then each is valid when all of them run together are.
    if (start < end && (bytes[start]! & 0xc0) === 0x80) whole = false;
    text.set(bytes.subarray(start, end), at);
    at += end - start;
  }
  if (!whole || !isUtf8(text)) {
    throw new CairnError("invalid", "cannot accept a log line: it is not valid UTF-8", {
      reason: "BAD_UTF8",
      hint: "replace invalid UTF-8 before sending it",
    });
  }
  return { lengths, text };
}

/** 0 is unspecified and means the job itself. */
function toOrigin(origin: number): LogOrigin {
  const name = LOG_ORIGINS[Math.max(0, origin - 1)];
  if (name !== undefined) return name;
  throw new CairnError(
    "invalid",
    `cannot accept lines of origin ${origin}: the origins are ${LOG_ORIGINS.join(", ")}`,
  );
}
