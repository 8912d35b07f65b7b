import { NotJson } from "#lang/json/write.ts";
import { jsonText, type ParamValue } from "./json-text.ts";
import { limits } from "#lang/limits.ts";
import { quoted, type Notices } from "./notices.ts";
import { keyProblem } from "./problems.ts";

export type ParamValues = Readonly<Record<string, ParamValue | undefined>>;

/** The params of a run, as far as this process has set them. */
export class Params {
  readonly #values = new Map<string, unknown>();
  readonly #notices: Notices;
  readonly #write: (key: string, json: string) => void;

  /** `write` gets what was set, as JSON text. */
  constructor(notices: Notices, write: (key: string, json: string) => void) {
    this.#notices = notices;
    this.#write = write;
  }

  /** Merges per key: what is not mentioned stays. What JSON cannot express is left out, with one notice. */
  set(values: ParamValues): void {
    try {
      for (const [key, json] of this.note(values)) this.#write(key, json);
    } catch (thrown) {
      const cause = thrown instanceof Error ? thrown.message : String(thrown);
      this.#notices.once("params", `cannot set params: ${cause}`);
    }
  }

  get(key: string): unknown {
    return this.#values.get(key);
  }

  /** All that were set, by key. */
  all(): ReadonlyMap<string, unknown> {
    return new Map(this.#values);
  }

  /** @internal Values that reach the server in another way. Returns their JSON texts. */
  note(values: ParamValues): Map<string, string> {
    const texts = paramTexts(values, this.#values, this.#notices);
    for (const key of texts.keys()) this.#values.set(key, values[key]);
    return texts;
  }
}

/** The valid params, as JSON text; the rest is left out, with one notice each. */
export function paramTexts(
  values: ParamValues,
  known: ReadonlyMap<string, unknown>,
  notices: Notices,
): Map<string, string> {
  const texts = new Map<string, string>();
  if (typeof values !== "object" || values === null) {
    notices.once("params", "cannot set params: give an object of keys and values");
    return texts;
  }
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    try {
      const problem = keyProblem(key);
      if (problem !== undefined) throw new NotJson(problem);
      if (!known.has(key) && known.size + texts.size >= limits.paramsPerRunMax) {
        throw new NotJson(`a run has at most ${limits.paramsPerRunMax} params`);
      }
      texts.set(key, jsonText(value));
    } catch (thrown) {
      const cause = thrown instanceof Error ? thrown.message : String(thrown);
      notices.once(`param ${key}`, `cannot set param ${quoted(key)}: ${cause}; it is left out`);
    }
  }
  return texts;
}
