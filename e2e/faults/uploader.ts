import { createHash } from "node:crypto";
import { fileOf } from "./content.ts";
import { BrokenPromise } from "./writer.ts";

const PIECE_BYTES = 32 << 10;
/** Every so many files one is sent in pieces. */
const PIECES_EVERY = 5;

/**
 * Uploads one file after the other, some in pieces, to servers that are killed. What a file holds follows
 * from its name.
 */
export class Uploader {
  readonly runId: string;
  readonly name: string;
  /** How many files were acknowledged: from then on they must be there. */
  acknowledged = 0;
  /** How many were begun; of the last one it may be unknown whether it is there. */
  begun = 0;
  /** Of the file that is on its way in pieces: how many bytes were acknowledged, and how many were sent. */
  #offset = 0;
  #sent = 0;

  constructor(runId: string, name: string) {
    this.runId = runId;
    this.name = name;
  }

  fileName(n: number): string {
    return `${this.name}/${n}`;
  }

  /** Uploads until the server is gone. */
  async write(url: string, onAck: () => void): Promise<void> {
    try {
      for (;;) {
        this.begun = this.acknowledged + 1;
        if (this.begun % PIECES_EVERY === 0) await this.#putPieces(url);
        else await this.#putWhole(url);
        this.acknowledged = this.begun;
        this.#offset = this.#sent = 0;
        onAck();
      }
    } catch (thrown) {
      if (thrown instanceof BrokenPromise) throw thrown;
      // The server was killed.
    }
  }

  async #putWhole(url: string): Promise<void> {
    const response = await this.#put(url, fileOf(this.fileName(this.begun)), {});
    await this.#require(response, 201);
  }

  async #putPieces(url: string): Promise<void> {
    const content = fileOf(this.fileName(this.begun));
    const headers = { "x-cairn-sha256": createHash("sha256").update(content).digest("hex") };
    const asked = await this.#put(url, new Uint8Array(0), {
      ...headers,
      "content-range": `bytes */${content.length}`,
    });
    if (asked.status === 201) return;
    await this.#require(asked, 202);
    let at = Number(asked.headers.get("upload-offset"));
    // Between the blob and the row of a file that has come as a whole there is a moment in which a kill leaves
    // neither the upload nor the artifact: it must be sent again.
    const wasWhole = at === 0 && this.#sent === content.length;
    if (wasWhole) this.#offset = this.#sent = 0;
    if (at < this.#offset || at > this.#sent) {
      const known = `${this.#offset} were acknowledged and ${this.#sent} sent`;
      throw new BrokenPromise(`${at} bytes of ${this.fileName(this.begun)} are there; ${known}`);
    }
    while (at < content.length) {
      const piece = content.subarray(at, at + PIECE_BYTES);
      this.#sent = at + piece.length;
      const range = `bytes ${at}-${this.#sent - 1}/${content.length}`;
      const response = await this.#put(url, piece, { ...headers, "content-range": range });
      await this.#require(response, this.#sent === content.length ? 201 : 202);
      at = this.#offset = this.#sent;
    }
  }

  #put(url: string, body: Uint8Array, headers: Record<string, string>): Promise<Response> {
    return fetch(`${url}/artifacts/${this.runId}/${this.fileName(this.begun)}`, {
      method: "PUT",
      headers: { "content-type": "application/octet-stream", ...headers },
      body: Buffer.from(body),
    });
  }

  async #require(response: Response, status: number): Promise<void> {
    const text = await response.text();
    if (response.status === status) return;
    throw new BrokenPromise(`${this.fileName(this.begun)} was answered with ${response.status}: ${text}`);
  }
}
