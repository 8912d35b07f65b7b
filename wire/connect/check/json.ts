import { isUtf8 } from "node:buffer";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost } from "#core/types/check.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Whether JSON is worth parsing: valid UTF-8, not too deep, not too many things. Says nothing on its grammar. */
export function checkJson(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) {
    throw new CairnError("invalid", "cannot accept the message: it is not valid UTF-8", {
      reason: "BAD_UTF8",
    });
  }
  let depth = 0;
  let objects = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfText(bytes, at);
        break;
      case OPEN_OBJECT:
        requireAtMost(++objects, limits.messageObjectsMax, "objects in one message");
        requireAtMost(++depth, limits.messageNestingMax, "levels in one message");
        break;
      case OPEN_LIST:
        requireAtMost(++depth, limits.messageNestingMax, "levels in one message");
        break;
      case COMMA:
        requireAtMost(++values, limits.messageValuesMax, "values in one message");
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth--;
    }
  }
}

/** Where the text that begins at `start` has its last quote, or the end of all. */
function endOfText(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(QUOTE, start + 1);
  while (end > 0) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
    end = bytes.indexOf(QUOTE, end + 1);
  }
  return bytes.length;
}
