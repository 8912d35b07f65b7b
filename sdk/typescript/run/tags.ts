import { limits } from "#lang/limits.ts";
import { quoted, type Notices } from "./notices.ts";
import { cutText, keyProblem } from "./problems.ts";

export type TagValue = string | number | bigint | boolean;
export type TagValues = Readonly<Record<string, TagValue | undefined>>;

/** The tags of a run, as far as this process has set them. */
export class Tags {
  readonly #known = new Set<string>();
  readonly #notices: Notices;

  constructor(notices: Notices) {
    this.#notices = notices;
  }

  /** The texts of those that are valid. */
  note(values: TagValues): Map<string, string> {
    const texts = tagTexts(values, this.#known, this.#notices);
    for (const key of texts.keys()) this.#known.add(key);
    return texts;
  }
}

/** The valid tags; the rest is left out, with one notice each. */
export function tagTexts(
  values: TagValues,
  known: ReadonlySet<string>,
  notices: Notices,
): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const refuse = (cause: string) =>
      notices.once(`tag ${key}`, `cannot set tag ${quoted(key)}: ${cause}; it is left out`);
    const problem = keyProblem(key);
    if (problem !== undefined) refuse(problem);
    else if (!["string", "number", "bigint", "boolean"].includes(typeof value))
      refuse(`a ${typeof value} is not a text`);
    else if (!known.has(key) && known.size + texts.size >= limits.tagsPerRunMax) {
      refuse(`a run has at most ${limits.tagsPerRunMax} tags`);
    } else {
      const text = cutText(String(value), limits.tagValueBytesMax);
      if (text.length < String(value).length)
        notices.once(`tag ${key}`, `tag ${quoted(key)} was cut to 8 KiB`);
      texts.set(key, text);
    }
  }
  return texts;
}
