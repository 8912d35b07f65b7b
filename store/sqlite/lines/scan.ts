import { limits } from "#lang/limits.ts";
import type { LogFilter, LogLine } from "#core/types/log.ts";
import type { ReadLog } from "#core/ports/log-store.ts";
import type { LineBlock } from "./block.ts";
import type { Budget, LineMatcher } from "./match.ts";
import { mayHold, selects, type LinePiece } from "./piece.ts";
import type { MissingLines } from "./walk.ts";

/** After so much text or time a call answers with what it has, so that no reader waits for long. */
const SCAN_BYTES_MAX = 64 << 20;
const SCAN_MS_MAX = 250;
const BYTES_PER_LOOK = 64 << 10;
/** What passing a line costs besides its text, and passing a piece that need not be opened. */
const LINE_BYTES = 16;
const PIECE_BYTES = 1024;

/** One call on its way through the pieces of a log. It passes at least one piece or line. */
export class LineScan implements Budget {
  readonly lines: LogLine[] = [];
  readonly start: number;
  readonly total: number;
  /** Everything before it has been looked at. */
  next: number;
  /** Whether it is time to answer. */
  isOver = false;
  readonly #request: ReadLog;
  readonly #matcher: LineMatcher;
  readonly #deadlineMs = performance.now() + SCAN_MS_MAX;
  #answerBytesLeft: number = limits.logReadBytesMax;
  #scanBytesLeft = SCAN_BYTES_MAX;
  #untilLook = BYTES_PER_LOOK;

  constructor(request: ReadLog, matcher: LineMatcher, total: number) {
    this.#request = request;
    this.#matcher = matcher;
    this.start = request.from < 0 ? Math.max(0, total + request.from) : request.from;
    this.next = this.start;
    this.total = total;
  }

  spend(bytes: number): boolean {
    this.#untilLook -= bytes + LINE_BYTES;
    if (this.#untilLook <= 0) {
      this.#untilLook = BYTES_PER_LOOK;
      this.isOver ||= performance.now() > this.#deadlineMs;
    }
    return this.isOver;
  }

  /** Goes through a piece. Returns what of it cannot be read. */
  take(piece: LinePiece, open: () => LineBlock | undefined): MissingLines | undefined {
    const end = piece.first + piece.count;
    if (!mayHold(piece, this.#request.filter)) {
      this.next = end;
      this.spend(PIECE_BYTES);
      return undefined;
    }
    const block = open();
    if (block === undefined) return { first: this.next, next: end };
    this.#look(piece, block);
    this.#scanBytesLeft -= piece.size;
    if (this.#scanBytesLeft <= 0) this.isOver = true;
    this.spend(piece.size);
    return undefined;
  }

  #look({ first, count }: LinePiece, block: LineBlock): void {
    const wanted = selectorOf(this.#request.filter, block);
    for (let i = this.next - first; ; i++) {
      i = this.#matcher.find(block, i, wanted, this);
      this.next = first + Math.min(i, count);
      if (i >= count || this.isOver) return;
      const line = lineOf(block, first, i);
      this.lines.push(line);
      this.next++;
      this.#answerBytesLeft -= Buffer.byteLength(line.text);
      if (this.lines.length >= this.#request.limit || this.#answerBytesLeft <= 0) {
        this.isOver = true;
        return;
      }
    }
  }
}

/** Decides line by line. Looks into the block only when it is asked. */
function selectorOf(filter: LogFilter, block: LineBlock): (i: number) => boolean {
  const { fromUs = -Infinity, toUs = Infinity, origin, stream, rank } = filter;
  const anySource = origin === undefined && stream === undefined && rank === undefined;
  if (anySource && fromUs === -Infinity && toUs === Infinity) return () => true;
  let selected: boolean[] | undefined;
  return (i) => {
    const { source, times, sources } = block.columns;
    if (!(times[i]! >= fromUs && times[i]! <= toUs)) return false;
    selected ??= sources.map((one) => selects(filter, one));
    return selected[source[i]!]!;
  };
}

function lineOf(block: LineBlock, first: number, i: number): LogLine {
  const { sources, source, times } = block.columns;
  const { origin, stream, rank } = sources[source[i]!]!;
  return { number: first + i, timeUs: times[i]!, origin, stream, rank, text: block.lineText(i) };
}
