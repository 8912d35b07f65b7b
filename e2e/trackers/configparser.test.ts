import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PythonConfig } from "#sdk/tracker/python-config.ts";
import { configuredTrackers } from "#sdk/tracker/torchx-config.ts";
import { dose, seed, tally } from "../../tools/dose.ts";
import { pythonCommand } from "../../tools/needs.ts";

const FILES = dose(1_000, 20_000);
const PYTHON_MS_MAX = 240_000;

type Answer = { refused: string } | { sections: [string, [string, string][] | string][] };

/** What Python answers for each file. */
function askPython(script: string, input: string, env: NodeJS.ProcessEnv = {}, cwd?: string): string {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { status, stdout, stderr } = spawnSync(pythonCommand(), [path], {
    input,
    encoding: "utf8",
    timeout: PYTHON_MS_MAX,
    maxBuffer: 256 * 2 ** 20,
    env: { PATH: process.env["PATH"], PYTHONUTF8: "1", ...env },
    ...(cwd !== undefined && { cwd }),
  });
  if (status !== 0) throw new Error(`python ended with ${status}: ${stderr}`);
  return stdout;
}

function readHere(content: Buffer): Answer {
  let config: PythonConfig;
  try {
    config = PythonConfig.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content));
  } catch {
    return { refused: "" };
  }
  return {
    sections: config.sections().map((section) => {
      try {
        return [section, [...config.items(section)]];
      } catch {
        return [section, ""];
      }
    }),
  };
}

/** Which error it was does not matter; that it was one does. */
function withoutErrorNames(answer: Answer): Answer {
  if ("refused" in answer) return { refused: "" };
  return { sections: answer.sections.map(([name, items]) => [name, typeof items === "string" ? "" : items]) };
}

/** Numbers from 0 to 1, the same for the same start. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SPACES = [
  "",
  "",
  "",
  "",
  " ",
  "  ",
  "\t",
  "    ",
  "\u00a0",
  "\u3000",
  "\u001f",
  "\u0085",
  "\u000b",
  "\u2028",
];
const NAMES = [
  "a",
  "b",
  "config",
  "Config",
  "host",
  "cairn",
  "x y",
  "k.e-y",
  "ключ",
  "__proto__",
  "a%b",
  "[x",
  "é",
  "",
];
const SECTIONS = [
  "torchx:tracker",
  "tracker:cairn",
  "tracker:mlflow",
  "DEFAULT",
  "a",
  "a]b",
  " spaced ",
  "Tracker:x",
  "",
  "__proto__",
];
const VALUES = [
  "",
  "1",
  "http://h:4700/ns?x=1",
  "a = b",
  "v # no comment",
  "v ; none either",
  "%(host)s/x",
  "%(a)s",
  "%(b)s%(a)s",
  "100%%",
  "100%",
  "%(missing)s",
  "%(",
  "%s",
  "%()s",
  "%(x y)s",
  "[section]",
  "\ufeff",
  "\u2029",
  "trailing\\",
  "日本語",
  "\u0000",
];
const ENDS = ["\n", "\n", "\n", "\n", "\r\n", "\r", "\n\n", "\u0085\n"];

/** A file of up to 14 lines. Two of three are mostly as people write them, the others try what they can. */
function makeFile(random: () => number): Buffer {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const wildness = random() < 0.65 ? 0.03 : 1;
  const wild = () => random() < wildness;
  let count = 0;
  const name = () => (wild() ? pick(NAMES) : `${pick(["config", "Key", "a", "é"])}${count++}`);
  const section = () => (wild() ? pick(SECTIONS) : `tracker:${count++}`);
  const value = () =>
    wild()
      ? pick(VALUES)
      : pick(["", "1", "a = b", "http://h:4700/ns?x=1", "%(config0)s/x", "100%%", "v # w"]);
  const space = () => (wild() ? pick(SPACES) : pick(["", " "]));
  const end = () => (wild() ? pick(ENDS) : "\n");
  const line = (): string => {
    const roll = random();
    if (roll < 0.15) return `[${section()}]${wild() ? pick(["", " # x", "]", "junk"]) : ""}`;
    if (roll < 0.65) return name() + space() + (wild() ? pick(["=", ":", "=:"]) : "=") + space() + value();
    if (roll < 0.75) return pick(["#", ";", "# a = b", "; [x]", "#%"]);
    if (roll < 0.85 || !wild()) return "";
    return pick([pick(VALUES), pick(NAMES), "continued", "c = d"]);
  };
  let text = wild() ? pick(["", "", "\ufeff", "# head\n"]) : "";
  if (random() < 0.95) text += `[${section()}]${end()}`;
  for (let lines = Math.floor(random() * 14); lines > 0; lines--) {
    text += random() < 0.2 ? pick(SPACES) : "";
    text += line() + space() + end();
  }
  // References to references, up to more than Python follows.
  if (random() < 0.1) {
    const length = 1 + Math.floor(random() * 13);
    text += "[chain]\n";
    for (let i = 0; i < length; i++) text += `link${i} = %(link${i + 1})s\n`;
    text += `link${length} = end%%\n`;
  }
  const bytes = Buffer.from(text);
  if (random() > 0.02) return bytes;
  return Buffer.concat([
    bytes,
    pick([Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0xed, 0xa0, 0x80])]),
  ]);
}

describe(".torchxconfig", () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "cairn-torchxconfig-"));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it(`X7 ${FILES} generated files are read as Python's configparser reads them (seed ${seed})`, () => {
    const random = randomFrom(seed);
    const files = Array.from({ length: FILES }, () => makeFile(random));
    const answers = askPython("read_configs.py", files.map((file) => `${file.toString("base64")}\n`).join(""))
      .trimEnd()
      .split("\n")
      .map((line) => withoutErrorNames(JSON.parse(line) as Answer));
    expect(answers).toHaveLength(FILES);
    for (const [i, file] of files.entries()) {
      expect(readHere(file), `file ${i}: ${JSON.stringify(file.toString())}`).toEqual(answers[i]);
    }
    // Neither accepting nor refusing everything would agree.
    const refused = answers.filter((answer) => "refused" in answer).length;
    expect(refused).toBeGreaterThan(FILES / 20);
    const read = answers.flatMap((answer) => ("sections" in answer ? answer.sections : []));
    expect(read.filter(([, items]) => items === "").length).toBeGreaterThan(FILES / 100);
    expect(read.filter(([, items]) => items !== "" && items.length > 1).length).toBeGreaterThan(FILES / 10);
    tally("config files", FILES);
  });

  const cases: [
    what: string,
    home: string | undefined,
    project: string | undefined,
    env: Record<string, string>,
  ][] = [
    ["nothing", undefined, undefined, {}],
    ["a project", undefined, "[torchx:tracker]\ncairn=cairn\n[tracker:cairn]\nconfig=http://h:1/a\n", {}],
    [
      "home before project",
      "[tracker:cairn]\nconfig=home\n",
      "[torchx:tracker]\ncairn=\n[tracker:cairn]\nconfig=project\n",
      {},
    ],
    ["names of both", "[torchx:tracker]\none=\n", "[torchx:tracker]\ntwo=\none=\n", {}],
    [
      "names from the environment",
      "[torchx:tracker]\none=\n[tracker:two]\nconfig=2",
      undefined,
      { TORCHX_TRACKERS: "two, three" },
    ],
    [
      "a config from the environment",
      "[torchx:tracker]\none=\n[tracker:one]\nconfig=file",
      undefined,
      { TORCHX_TRACKER_ONE_CONFIG: "env" },
    ],
    [
      "an empty config",
      "[torchx:tracker]\none=\n[tracker:one]\nconfig=",
      undefined,
      { TORCHX_TRACKER_TWO_CONFIG: "x" },
    ],
    [
      "defaults",
      "[DEFAULT]\nhost=h\n[torchx:tracker]\none=\n[tracker:one]\nconfig=%(host)s/x",
      undefined,
      {},
    ],
    ["case", "[torchx:tracker]\nOne=\none=\n[tracker:One]\nconfig=1\nConfig=2", undefined, {}],
    [
      "invalid sections",
      "[torchx:]\na=\n[:tracker]\nb=\n[torchx:tracker:x]\nc=\n[xtorchx:tracker]\nd=\n",
      undefined,
      {},
    ],
  ];
  it.each(cases)("X7 the real TorchX finds the same trackers: %s", async (_what, home, project, env) => {
    const [homeDir, cwd] = [join(dir, "home"), join(dir, "project")];
    await rm(homeDir, { recursive: true, force: true });
    await rm(cwd, { recursive: true, force: true });
    await mkdir(homeDir);
    await mkdir(cwd);
    if (home !== undefined) await writeFile(join(homeDir, ".torchxconfig"), home);
    if (project !== undefined) await writeFile(join(cwd, ".torchxconfig"), project);
    const settings = { HOME: homeDir, ...env };
    const theirs = JSON.parse(askPython("torchx_settings.py", "", settings, cwd)) as [
      string,
      string | null,
    ][];
    const ours = [...(await configuredTrackers({ env: settings, cwd }))].map(([name, { config }]) => [
      name,
      config,
    ]);
    expect(ours).toEqual(theirs);
  });
});
