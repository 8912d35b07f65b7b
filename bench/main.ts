/**
 * Measures the figures of the bars, on this machine and in one run, and prints one table. Wall time varies on a shared
 * machine; points per CPU-second and the ratio to one-row-per-point SQLite are the figures. `npm run bench -- --quick`
 * uses a tenth of the data; `--only ingest,reads` picks sections; `--json FILE`
 * also writes the figures there.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Report } from "./report.ts";
import { benchAccess } from "./sections/access.ts";
import { benchArtifacts } from "./sections/artifacts.ts";
import { benchClient } from "./sections/client.ts";
import { benchCommand } from "./sections/command.ts";
import { benchFolding } from "./sections/folding.ts";
import { benchGroups } from "./sections/groups.ts";
import { benchIngest } from "./sections/ingest.ts";
import { benchLogs } from "./sections/logs.ts";
import { benchPython } from "./sections/python.ts";
import { benchReads } from "./sections/reads.ts";
import { benchSearch } from "./sections/search.ts";
import { benchSize } from "./sections/size.ts";
import { benchStart } from "./sections/start.ts";
import { benchWatch } from "./sections/watch.ts";
import { benchWeb } from "./sections/web.ts";

/** The input of a section. */
export interface Bench {
  report: Report;
  directory: string;
  /** 1, or 0.1 with --quick. */
  scale: number;
}

const sections: Record<string, (bench: Bench) => Promise<void>> = {
  ingest: benchIngest,
  size: benchSize,
  reads: benchReads,
  groups: benchGroups,
  logs: benchLogs,
  artifacts: benchArtifacts,
  folding: benchFolding,
  search: benchSearch,
  watch: benchWatch,
  client: benchClient,
  command: benchCommand,
  python: benchPython,
  access: benchAccess,
  start: benchStart,
  web: benchWeb,
};

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    json: { type: "string" },
  },
});
const chosen = values.only?.split(",") ?? Object.keys(sections);
const report = new Report();
for (const name of chosen) {
  const section = sections[name];
  if (section === undefined)
    throw new Error(`unknown section "${name}"; sections are ${Object.keys(sections).join(", ")}`);
  process.stderr.write(`\n# ${name}\n`);
  const directory = mkdtempSync(join(tmpdir(), "cairn-bench-"));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  // Also when it is cut short.
  process.once("exit", remove);
  try {
    await section({ report, directory, scale: values.quick ? 0.1 : 1 });
  } finally {
    process.off("exit", remove);
    remove();
  }
}
process.stdout.write(`\n${report.toString()}\n`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report.figures, null, 2)}\n`);
