/**
 * Tells what comes back late from what is news. A field sends what is typed to the address, and the address answers when the machine gets around to it: by then
 * more may have been typed, which the answer must not take away. Several texts may be under way, and some of them are passed over.
 */
export class SentTexts {
  #underWay: string[] = [];

  send(text: string): void {
    this.#underWay.push(text);
  }

  /** Whether this was sent from here; what was sent before it will not come any more. */
  takeBack(text: string): boolean {
    const at = this.#underWay.indexOf(text);
    this.#underWay = at < 0 ? [] : this.#underWay.slice(at + 1);
    return at >= 0;
  }

  /** What the address will hold in the end, which holds `kept` now. */
  latest(kept: string): string {
    return this.#underWay.at(-1) ?? kept;
  }

  /** Nothing more is typed, so whatever comes is to be shown. */
  forget(): void {
    this.#underWay = [];
  }
}
