import { matchesGlob } from "node:path";

import {
  CHROMIUM,
  CURL,
  FISH,
  GCC,
  GIT,
  LINUX,
  OLD_NODE,
  OPENSSL,
  OWN_MOUNTS,
  PODMAN,
  PYTHON,
  SCRIPT,
  STRACE,
  SYSTEMD,
  TORCH,
  TORCHX_NIGHTLY,
  ZSH,
  pythonModules,
  type Need,
} from "./needs.ts";

export interface Suite {
  name: string;
  config:
    | "vitest.config.ts"
    | "vitest.e2e.config.ts"
    | "vitest.browser.config.ts"
    | "vitest.packages.config.ts";
  /** Patterns of its test files. Every test file belongs to exactly one suite. */
  files: readonly string[];
  /** What each of its files needs. */
  needs?: readonly Need[];
  /** What some of its files need besides, by pattern. */
  alsoNeeds?: Readonly<Record<string, readonly Need[]>>;
  /** Its files share processes and loaded modules. */
  isWarm?: true;
  /** It measures time or memory, so its files run one after the other. */
  measures?: true;
  /** It starts processes or a browser: a test that fails is run once more, alone, at the end. */
  repeats?: true;
}

const PROCESSES = { config: "vitest.e2e.config.ts", repeats: true } as const;
const PAGES = { config: "vitest.browser.config.ts", repeats: true, needs: [CHROMIUM] } as const;

/** Unit tests of properties that hold for any input. */
const PROPERTIES = [
  "base/codec/{block,chunk}.test.ts",
  "core/access/rights.test.ts",
  "core/series/state.test.ts",
  "lang/json/*.test.ts",
  "lang/query/{fuzz,lexer,pattern,print}.test.ts",
  "sdk/typescript/capture/{archive/ignore-rules,provenance}.test.ts",
  "sdk/typescript/run/record/recorder.test.ts",
  "store/columns/{columns,index}.test.ts",
  "store/columns/cells/{cells,params}.test.ts",
  "store/sqlite/{disk-points,memory}.test.ts",
  "store/sqlite/lines/{block,lines}.test.ts",
  "wire/connect/answer/{encode-read,json-slices}.test.ts",
  "wire/connect/decode/envelope.test.ts",
];

/** The suites of `npm test`, in the order in which they run. */
export const suites: readonly Suite[] = [
  {
    name: "unit",
    config: "vitest.config.ts",
    files: ["{base,lang,core,wire,store,blob,sdk,cli,web,tools}/**/*.test.ts"],
    alsoNeeds: {
      "sdk/typescript/capture/{archive/{archive,archive-bytes,ignore-rules},git,git/work-tree,provenance}.test.ts":
        [GIT],
      "store/sqlite/file/process-mounts.test.ts": [OWN_MOUNTS],
      "tools/package/wheel.test.ts": [GIT],
    },
  },
  {
    name: "server",
    config: "vitest.config.ts",
    files: ["server/**/*.test.ts"],
    alsoNeeds: { "server/listen/tls.test.ts": [OPENSSL] },
    repeats: true,
  },
  { ...PROCESSES, name: "e2e", files: ["e2e/*.test.ts"] },
  {
    ...PROCESSES,
    name: "sdk",
    files: ["e2e/sdk/**/*.test.ts"],
    alsoNeeds: { "e2e/sdk/{capture,forbidden-capture,provenance,secrets,tracked-job}.test.ts": [GIT] },
  },
  {
    ...PROCESSES,
    name: "cli",
    files: ["e2e/cli/**/*.test.ts"],
    alsoNeeds: {
      "e2e/cli/mounts.test.ts": [OWN_MOUNTS],
      "e2e/cli/shells/completion-fish.test.ts": [FISH],
      "e2e/cli/shells/completion-zsh.test.ts": [ZSH],
      "e2e/cli/terminal/{completion-tab,ls-watch,real-terminal}.test.ts": [SCRIPT],
      "e2e/cli/doctor/doctor-names.test.ts": [PYTHON],
      "e2e/cli/terminal/{screen,serve-terminal,top}.test.ts": [PYTHON],
    },
    isWarm: true,
  },
  {
    ...PROCESSES,
    name: "clients",
    files: ["e2e/{clients,python,trackers}/**/*.test.ts"],
    alsoNeeds: {
      "e2e/clients/{curl,home-page}.test.ts": [CURL],
      "e2e/clients/grpcio.test.ts": [pythonModules("grpc", "grpc_tools", "grpc_reflection")],
      "e2e/clients/sqlmap.test.ts": [pythonModules("sqlmap")],
      "e2e/python/{*,command/*}.test.ts": [PYTHON],
      "e2e/python/{archive,capture}.test.ts": [GIT],
      "e2e/python/command/install.test.ts": [GIT, pythonModules("setuptools", "pip", "ensurepip")],
      "e2e/python/connections.test.ts": [OPENSSL],
      "e2e/python/package.test.ts": [pythonModules("setuptools", "pip", "mypy")],
      "e2e/python/torch/*.test.ts": [TORCH],
      "e2e/python/torchx/*.test.ts": [
        GIT,
        pythonModules("torchx", "fsspec", "aiohttp", "setuptools", "pip"),
        TORCHX_NIGHTLY,
      ],
      "e2e/trackers/{configparser,python-tracker,tabulate}.test.ts": [pythonModules("torchx", "tabulate")],
      "e2e/trackers/{fsspec,results}.test.ts": [pythonModules("torchx", "fsspec", "aiohttp"), TORCHX_NIGHTLY],
      "e2e/trackers/mlflow*.test.ts": [pythonModules("torchx", "mlflow", "flask", "sqlalchemy")],
    },
  },
  {
    ...PROCESSES,
    name: "faults",
    files: ["e2e/{aborts,faults}/**/*.test.ts"],
    needs: [LINUX],
    alsoNeeds: {
      "e2e/faults/{failed-storage,shim,sweep,power/power-loss}.test.ts": [GCC],
      "e2e/faults/strace.test.ts": [STRACE],
      "e2e/faults/{full-disk,full-spool}.test.ts": [OWN_MOUNTS],
    },
  },
  {
    ...PAGES,
    name: "browser",
    files: ["e2e/browser/{*,torchx/*}.test.ts"],
    alsoNeeds: {
      "e2e/browser/torchx/*.test.ts": [CURL, pythonModules("torchx", "fsspec", "setuptools")],
    },
  },
  {
    name: "packages",
    config: "vitest.packages.config.ts",
    files: ["e2e/packages/**/*.test.ts"],
    alsoNeeds: {
      "e2e/packages/launcher.test.ts": [OLD_NODE],
      "e2e/packages/sdk.test.ts": [OLD_NODE, GIT],
      "e2e/packages/deploy/container.test.ts": [PODMAN, OWN_MOUNTS],
      "e2e/packages/deploy/kubernetes.test.ts": [pythonModules("kubernetes_validate", "yaml")],
      "e2e/packages/deploy/systemd.test.ts": [CURL, SYSTEMD],
      "e2e/packages/server-wheel.test.ts": [PYTHON, pythonModules("pip")],
    },
    repeats: true,
  },
  { ...PROCESSES, name: "load", files: ["e2e/load/**/*.test.ts"], needs: [LINUX], measures: true },
  {
    ...PROCESSES,
    name: "timing",
    files: ["e2e/timing/*.test.ts"],
    alsoNeeds: { "e2e/timing/top.test.ts": [PYTHON] },
    measures: true,
  },
  { ...PAGES, name: "browser-timing", files: ["e2e/browser/alone/*.test.ts"], measures: true },
];

/** Tests that run as many cases as time allows in `npm run test:long`, and a small dose of it in `npm test`. */
export interface Campaign {
  name: string;
  /** Of one suite. */
  files: readonly string[];
  /** Approximate duration of one round. */
  minutes: number;
}

/** Every test file that takes its size from tools/dose.ts belongs to one of them. */
export const campaigns: readonly Campaign[] = [
  { name: "kills", files: ["e2e/faults/kill.test.ts"], minutes: 5 },
  { name: "faults", files: ["e2e/faults/sweep.test.ts", "e2e/faults/full-disk.test.ts"], minutes: 5 },
  { name: "power", files: ["e2e/faults/power/power-loss.test.ts"], minutes: 5 },
  { name: "schedules", files: ["e2e/schedules.test.ts", "e2e/two-cores.test.ts"], minutes: 2 },
  { name: "run-index", files: ["e2e/run-index-kills.test.ts"], minutes: 3 },
  { name: "outages", files: ["e2e/sdk/outages.test.ts"], minutes: 4 },
  { name: "provenance", files: ["e2e/sdk/provenance.test.ts"], minutes: 2 },
  { name: "aborts", files: ["e2e/aborts/*.test.ts"], minutes: 4 },
  { name: "floods", files: ["e2e/load/floods.test.ts"], minutes: 3 },
  { name: "crowds", files: ["e2e/load/{many-writers,noisy,slow-clients}.test.ts"], minutes: 4 },
  { name: "large-artifacts", files: ["e2e/load/large-artifacts.test.ts"], minutes: 2 },
  { name: "traversals", files: ["e2e/artifact-traversal.test.ts"], minutes: 2 },
  { name: "tokens", files: ["e2e/timing/{hidden,token}-timing.test.ts"], minutes: 1 },
  { name: "sqlmap", files: ["e2e/clients/sqlmap.test.ts"], minutes: 3 },
  { name: "rows", files: ["e2e/browser/{web-runs-many,web-same-answers}.test.ts"], minutes: 4 },
  { name: "hostile-pages", files: ["e2e/browser/{hostile-artifacts,web-hostile}.test.ts"], minutes: 4 },
  { name: "layouts", files: ["e2e/browser/{web-charts-odd,web-layout}.test.ts"], minutes: 4 },
  { name: "contracts", files: ["e2e/{lineage-contract,watch-contract}.test.ts"], minutes: 3 },
  {
    name: "server",
    files: ["server/{auth/log-in-flood,hostile/injection,monitoring/limited-log}.test.ts"],
    minutes: 2,
  },
  { name: "commands", files: ["e2e/cli/{import,target-path}.test.ts"], minutes: 2 },
  { name: "python", files: ["e2e/python/*.test.ts"], minutes: 4 },
  {
    name: "trackers",
    files: ["e2e/trackers/{configparser,mlflow-ranks,tabulate}.test.ts", "e2e/python/torchx/*.test.ts"],
    minutes: 3,
  },
  { name: "properties", files: PROPERTIES, minutes: 4 },
];

/** The suites that would run this test file; must be exactly one. */
export function suitesOf(file: string): Suite[] {
  return suites.filter((suite) => suite.files.some((pattern) => matchesGlob(file, pattern)));
}

/** All needs of a test file. */
export function needsOf(file: string): Need[] {
  return suitesOf(file).flatMap(({ needs = [], alsoNeeds = {} }) => {
    const more = Object.entries(alsoNeeds).filter(([pattern]) => matchesGlob(file, pattern));
    return needs.concat(more.flatMap(([, ofPattern]) => ofPattern));
  });
}

/** All needs that any suite names. */
export function allNeeds(): Need[] {
  return suites.flatMap(({ needs = [], alsoNeeds = {} }) => needs.concat(Object.values(alsoNeeds).flat()));
}
