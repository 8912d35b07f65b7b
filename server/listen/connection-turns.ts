/** How long one turn of the event loop may be spent on beginning waiting requests. */
const TURN_MS = 0.5;

/** The waiting requests of one connection, oldest first. */
export interface Waiting {
  /** Begins the oldest. False: nothing is left to begin now. */
  beginNext(): boolean;
}

/**
 * Lets connections take turns. A client that sends a thousand requests in one packet has them all parsed at
 * once, and beginning them at once would make all other clients wait for them. So a connection begins one request when
 * it arrives and queues the others here: in each round every connection begins one, and after a short time the event
 * loop handles the other sockets.
 */
export class ConnectionTurns {
  #line: Waiting[] = [];
  #scheduled = false;
  #turn = 0;
  #counting = false;

  /** A number that is the same during one turn of the event loop. */
  get turn(): number {
    if (!this.#counting) {
      this.#counting = true;
      setImmediate(() => {
        this.#turn++;
        this.#counting = false;
      });
    }
    return this.#turn;
  }

  /** A connection is queued at most once; it checks that itself. */
  push(connection: Waiting): void {
    this.#line.push(connection);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#run);
  }

  readonly #run = (): void => {
    const endMs = performance.now() + TURN_MS;
    let next = 0;
    // A connection that began a request goes to the end of the queue.
    do {
      const connection = this.#line[next++]!;
      if (connection.beginNext()) this.#line.push(connection);
    } while (next < this.#line.length && performance.now() < endMs);
    this.#line = this.#line.slice(next);
    this.#scheduled = this.#line.length > 0;
    if (this.#scheduled) setImmediate(this.#run);
  };
}
