import type { Frame } from "./frame.ts";
import type { Refusal } from "./set-aside.ts";

/** A frame, and its place, which only its source understands. */
export interface SpooledFrame extends Frame {
  readonly place: object;
}

/** What a delivery reads from: the frames of one writer, in the order they were written. */
export interface FrameSource {
  /** 32 hex digits, the writer of all envelopes. */
  readonly writer: string;
  /** The next frames, at least one; undefined when there are none now. Each is given once. */
  read(): readonly SpooledFrame[] | undefined;
  /** The frame was delivered, or will never be: it need not be kept. */
  resolve(frame: SpooledFrame): void;
  /** Keeps a frame that the server refuses for good, and says where. Throws when it cannot. */
  setAside(frame: Frame, refusal: Refusal): string;
  /** The file of which `files/<sha256>` is a copy or a link. */
  filePath(sha256: string): string;
}
