/**
 * Distinguishes own texts that come back late from new ones. A field writes the typed text to the address, which is
 * updated later: by then more may have been typed, which must not be overwritten. Several texts may be pending, and
 * some of them are skipped.
 */
export class SentTexts {
  #underWay: string[] = [];

  send(text: string): void {
    this.#underWay.push(text);
  }

  /** Whether this was sent from here; texts that were sent before it will not come back any more. */
  takeBack(text: string): boolean {
    const at = this.#underWay.indexOf(text);
    this.#underWay = at < 0 ? [] : this.#underWay.slice(at + 1);
    return at >= 0;
  }

  /** The final value of the address, which is `kept` now. */
  latest(kept: string): string {
    return this.#underWay.at(-1) ?? kept;
  }

  /** Typing has ended, so any new text is shown. */
  forget(): void {
    this.#underWay = [];
  }
}
