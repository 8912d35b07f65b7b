/**
 * Bytes that are not what a writer of this folder wrote, or a value that the format cannot hold.
 * Stores turn it into their own error; nothing else is thrown on account of bytes.
 */
export class CodecError extends Error {
  override readonly name = "CodecError";
}
