const WRITER_TAG = (2 << 3) | 2;
const SEQ_TAG = 3 << 3;

/** Writer and number of a cairn.v1.Envelope, without decoding the rest. undefined for invalid ones. */
export function envelopeNames(body: Uint8Array): { writer: string; seq: number } | undefined {
  let at = 0;
  let writer = "";
  let seq = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; at < body.length && scale < 2 ** 63; scale *= 128) {
      const byte = body[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  while (at < body.length) {
    const tag = varint();
    if ((tag & 7) === 0) {
      const value = varint();
      if (tag === SEQ_TAG) seq = value;
    } else if ((tag & 7) === 2) {
      const end = varint() + at;
      if (!(end <= body.length)) return undefined;
      if (tag === WRITER_TAG) writer = Buffer.from(body.subarray(at, end)).toString();
      at = end;
    } else {
      return undefined;
    }
    // Both clients write them first; there is no need to walk over the points.
    if (writer !== "" && seq > 0) return { writer, seq };
  }
  return undefined;
}
