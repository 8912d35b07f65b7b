/**
 * All checks before a commit: `npm run check`. Give names to run only those steps, or leave some out:
 * `npm run check -- lint types`, `npm run check -- --without unit`.
 */
import { parseArgs } from "node:util";

import { inParallel } from "#base/in-parallel.ts";
import { installCheckers } from "./install/checkers.ts";
import { runCommand } from "./command.ts";

interface Step {
  name: string;
  command: readonly string[];
}

/** The longest first: two run at a time. */
const steps: readonly Step[] = [
  // Without those that start whole servers, or git and tar again and again; `npm test` runs them.
  {
    name: "unit",
    command: [
      "vitest",
      "run",
      "--reporter=dot",
      "--exclude=server/**",
      "--exclude=sdk/typescript/capture/**",
      "--exclude=store/sqlite/file/process*.test.ts",
    ],
  },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "types", command: ["tsc", "-p", "."] },
  { name: "dead-code", command: ["knip"] },
  { name: "web-types", command: ["tsc", "-p", "web"] },
  { name: "layers", command: ["node", "tools/layers.ts"] },
  { name: "tidy", command: ["node", "tools/tidy.ts"] },
  { name: "generated", command: ["node", "tools/generated.ts"] },
  { name: "spec", command: ["node", "tools/spec.ts"] },
  { name: "proto", command: ["buf", "lint"] },
  { name: "format", command: ["oxfmt", "--check", "."] },
  { name: "supply", command: ["node", "tools/supply.ts"] },
];

const AT_ONCE = 2;

function choose(): Step[] {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { without: { type: "string", multiple: true, default: [] } },
  });
  const names = new Set(steps.map((step) => step.name));
  for (const name of [...positionals, ...values.without]) {
    if (!names.has(name)) throw new Error(`unknown step ${name}; steps are ${[...names].join(", ")}`);
  }
  const wanted = positionals.length === 0 ? names : new Set(positionals);
  return steps.filter((step) => wanted.has(step.name) && !values.without.includes(step.name));
}

const failures: { name: string; output: string }[] = [];

async function runStep({ name, command }: Step): Promise<void> {
  const { code, output, seconds } = await runCommand(command, { show: false });
  if (code !== 0) failures.push({ name, output });
  console.log(`${code === 0 ? "ok    " : "FAILED"}  ${name.padEnd(10)} ${seconds.toFixed(1)} s`);
}

const start = performance.now();
const chosen = choose();
await installCheckers();
await inParallel(chosen, AT_ONCE, runStep);
for (const { name, output } of failures) console.log(`\n${name} failed:\n${output.trimEnd()}`);
const total = ((performance.now() - start) / 1000).toFixed(1);
if (failures.length === 0) console.log(`all checks passed in ${total} s`);
else {
  console.log(`\n${failures.map((failure) => failure.name).join(", ")} failed, ${total} s`);
  process.exitCode = 1;
}
