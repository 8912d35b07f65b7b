/**
 * INI files as Python's `configparser.ConfigParser` reads them with TorchX's settings: names of options keep their
 * case, `=` and `:` divide, comments have their own lines (`#` or `;`), lines that are indented deeper continue
 * the value, `%(name)s` is replaced, and a section or option that is there twice is an error.
 *
 *     [tracker:cairn]
 *     host = http://127.0.0.1:4700
 *     config: %(host)s/langtech
 */

/** What Python counts as white space; unlike JavaScript's, with the separators U+001C to U+001F and without U+FEFF. */
const SPACE =
  "\\t-\\r\\u001c-\\u001f \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const LEADING_SPACE = new RegExp(`^[${SPACE}]+`);
const NOT_SPACE = new RegExp(`[^${SPACE}]`);
const SECTION = /^\[(.+)\]/s;
const REFERENCE = /^%\(([^)]+)\)s/;

const DEFAULT_SECTION = "DEFAULT";
const INTERPOLATION_DEPTH_MAX = 10;

/** A file that Python would refuse, too. */
class ConfigSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigSyntaxError";
  }
}

export class PythonConfig {
  readonly #defaults = new Map<string, string>();
  readonly #sections = new Map<string, Map<string, string>>();

  /** Throws a ConfigSyntaxError with the number of the line. */
  static parse(text: string): PythonConfig {
    const config = new PythonConfig();
    new Lines(config.#defaults, config.#sections).read(text);
    return config;
  }

  /** Without the one for defaults. */
  sections(): string[] {
    return [...this.#sections.keys()];
  }

  /**
   * The options of a section, defaults first, with references replaced. Throws a ConfigSyntaxError when one of them
   * refers to a missing option; then no option of the section is available.
   */
  items(section: string): Map<string, string> {
    const raw = new Map([...this.#defaults, ...(this.#sections.get(section) ?? [])]);
    return new Map([...raw].map(([option, value]) => [option, interpolate(option, value, raw, 1)]));
  }
}

function interpolate(option: string, value: string, raw: ReadonlyMap<string, string>, depth: number): string {
  if (depth > INTERPOLATION_DEPTH_MAX) {
    throw new ConfigSyntaxError(`the value of "${option}" refers to itself, or through too many others`);
  }
  let whole = "";
  for (let rest = value; rest !== "";) {
    const at = rest.indexOf("%");
    if (at < 0) return whole + rest;
    whole += rest.slice(0, at);
    rest = rest.slice(at);
    if (rest.startsWith("%%")) {
      whole += "%";
      rest = rest.slice(2);
      continue;
    }
    const [reference, name] = REFERENCE.exec(rest) ?? [];
    if (reference === undefined) {
      throw new ConfigSyntaxError(
        `the value of "${option}" has a "%" without a reference; write "%%", or "%(name)s"`,
      );
    }
    const found = raw.get(name!);
    if (found === undefined)
      throw new ConfigSyntaxError(`the value of "${option}" refers to "${name}", which does not exist`);
    whole += found.includes("%") ? interpolate(option, found, raw, depth + 1) : found;
    rest = rest.slice(reference.length);
  }
  return whole;
}

/** Python's parser, line by line. */
class Lines {
  readonly #defaults: Map<string, string>;
  readonly #sections: Map<string, Map<string, string>>;
  /** Lines of each value, to be joined at the end. */
  readonly #values = new Map<Map<string, string>, Map<string, string[]>>();
  /** Sections and options of this file; a second one is an error. */
  readonly #seen = new Set<string>();
  #section: Map<string, string> | undefined;
  #sectionName = "";
  #value: string[] | undefined;
  #indent = 0;
  #fault: ConfigSyntaxError | undefined;

  constructor(defaults: Map<string, string>, sections: Map<string, Map<string, string>>) {
    this.#defaults = defaults;
    this.#sections = sections;
  }

  read(text: string): void {
    for (const [index, line] of text.replaceAll(/\r\n?/g, "\n").split("\n").entries()) {
      this.#line(line, index + 1);
    }
    if (this.#fault !== undefined) throw this.#fault;
    for (const [section, values] of this.#values) {
      for (const [option, lines] of values) section.set(option, stripEnd(lines.join("\n")));
    }
  }

  #line(line: string, number: number): void {
    const value = strip(line);
    if (value.startsWith("#") || value.startsWith(";")) return;
    if (value === "") {
      this.#value?.push("");
      return;
    }
    const indent = NOT_SPACE.exec(line)!.index;
    if (this.#value !== undefined && indent > this.#indent) {
      this.#value.push(value);
      return;
    }
    this.#indent = indent;
    const header = SECTION.exec(value)?.[1];
    if (header !== undefined) this.#openSection(header, number);
    else if (this.#section === undefined) throw fault(number, "there is no [section] before it");
    else this.#option(value, number);
  }

  #openSection(name: string, number: number): void {
    this.#sectionName = name;
    this.#value = undefined;
    if (name === DEFAULT_SECTION) {
      this.#section = this.#defaults;
      return;
    }
    if (this.#sections.has(name)) throw fault(number, `duplicate section "${name}"`);
    this.#section = new Map();
    this.#sections.set(name, this.#section);
  }

  #option(value: string, number: number): void {
    const divider = value.search(/[=:]/);
    const name = divider < 0 ? "" : stripEnd(value.slice(0, divider));
    if (name === "") {
      // Python reads on and complains at the end; the next line may continue the value before.
      this.#fault ??= fault(number, divider < 0 ? 'it has neither "=" nor ":"' : "it has no name");
      if (divider >= 0) this.#value = undefined;
      return;
    }
    const key = JSON.stringify([this.#sectionName, name]);
    if (this.#seen.has(key)) throw fault(number, `duplicate option "${name}"`);
    this.#seen.add(key);
    this.#value = [strip(value.slice(divider + 1))];
    const values = this.#values.get(this.#section!) ?? new Map<string, string[]>();
    this.#values.set(this.#section!, values.set(name, this.#value));
  }
}

function fault(line: number, cause: string): ConfigSyntaxError {
  return new ConfigSyntaxError(`line ${line}: ${cause}`);
}

function strip(text: string): string {
  return stripEnd(text.replace(LEADING_SPACE, ""));
}

/** Not by a pattern: one that looks for the end restarts at every space before it. */
function stripEnd(text: string): string {
  let end = text.length;
  while (end > 0 && !NOT_SPACE.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}
