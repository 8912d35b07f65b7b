import { InvalidArgumentError, Option, type Command } from "commander";
import type { Cairn } from "#sdk/client.ts";
import type { Cli } from "../cli.ts";
import type { DemoScaleName } from "../demo/demo-run.ts";
import { fillDemo } from "../demo/fill-demo.ts";
import { logLive } from "../demo/live.ts";
import { countOf } from "#lang/words/numbers.ts";
import { formatDuration } from "#lang/words/times.ts";

interface DemoOptions {
  namespace: string;
  seed: number;
  once?: boolean;
  scale: DemoScaleName;
}

export default function add(command: Command, cli: Cli): void {
  command
    .option("-n, --namespace <path>", "the namespace to fill", "demo")
    .option("--seed <number>", "seed of the generated curves", parseSeed, 42)
    .option("--once", "write the history and end, without live runs")
    .addOption(new Option("--scale <size>", "how much data").choices(["small", "full"]).default("full"))
    .addHelpText(
      "after",
      `
Three fictional teams, with four weeks of runs: a sweep, a run of 8 ranks with a straggler, a crash and a
restart, NaN bursts, one spike in 100,000 points, pictures by step, a failed run with its traceback, lineage over four
generations, a closed namespace. A few runs keep logging until Ctrl-C. The same seed makes the same runs; starting it
again adds nothing twice.

Examples:
  cairn demo
  cairn demo --once --scale small
  cairn demo --namespace sandbox/demo --seed 7 --json`,
    )
    .action(async (options: DemoOptions) => {
      const server = await cli.connect();
      const started = performance.now();
      const progress = cli.progress("Writing the demo");
      const filled = await fillDemo(server, {
        ...options,
        signal: cli.interrupted,
        onProgress: (done, total, name) => progress.update(done, { total, note: name }),
      }).finally(() => progress.end());
      const seconds = Math.round(performance.now() - started) / 1000;
      for (const remark of filled.remarks) cli.note(remark);
      const next = await commandsToTry(server, options);
      if (cli.options.json === true) {
        const { ids, written, points, remarks } = filled;
        cli.printJson({
          namespace: options.namespace,
          runs: ids.size,
          written,
          points,
          seconds,
          remarks,
          next,
        });
      } else {
        const already = filled.ids.size - filled.written;
        const there = already === 0 ? "" : `, ${countOf(already, "run")} existed already`;
        cli.print(
          `${countOf(filled.written, "run")} with ${countOf(filled.points, "point")} in ${formatDuration(seconds)}${there}`,
        );
        cli.print(
          `\nLook at:\n${next.map(({ command: text, shows }) => `  ${text}\n      ${shows}`).join("\n")}`,
        );
      }
      if (options.once !== true) await goOn(cli, server, options);
    });
}

async function goOn(cli: Cli, server: Cairn, options: DemoOptions): Promise<void> {
  cli.note("\n3 runs keep logging; watch them with `cairn top` in another terminal. Ctrl-C ends them.");
  const stop = new AbortController();
  const onTerminate = () => stop.abort();
  cli.surroundings.on("SIGTERM", onTerminate);
  const signal = AbortSignal.any([cli.interrupted, stop.signal]);
  let reported = "";
  const onTrouble = (message: string) => {
    // All of them fail with the same error.
    if (message !== reported) cli.note(message);
    reported = message;
  };
  await logLive(server, { ...options, signal, onTrouble });
  cli.surroundings.off("SIGTERM", onTerminate);
}

/** Real names, so that they can be copied. */
async function commandsToTry(
  server: Cairn,
  { namespace, once }: DemoOptions,
): Promise<{ command: string; shows: string }[]> {
  const best = await server.runs.searchRuns({
    query: 'status = "finished" order by metrics."val/wer".min',
    namespace: `${namespace}/speech/sweep`,
    pageSize: 1,
    columns: ["tags"],
  });
  const winner = best.runs[0]?.name ?? "sweep-001";
  const sweep = `${namespace}/speech/sweep`;
  return [
    ...(once === true ? [] : [{ command: "cairn top", shows: "what is running, live" }]),
    {
      command: `cairn ls -n ${sweep} 'order by metrics."val/wer".min'`,
      shows: `the best of the sweep; ${winner} leads`,
    },
    {
      command: `cairn plot -n ${sweep} val/wer --group-by params.lr`,
      shows: "which learning rate wins, over all seeds",
    },
    {
      command: `cairn diff ${sweep}/${winner} ${sweep}/sweep-001`,
      shows: "why two runs differ: params, code, environment",
    },
    {
      command: `cairn plot ${namespace}/translation/nightly/mt-pl-en-long train/loss`,
      shows: "one spike among very many points",
    },
    {
      command: `cairn plot ${namespace}/vision/pretraining/vit-b16-8gpu perf/step_seconds`,
      shows: "eight ranks, and the one that keeps the others waiting",
    },
    {
      command: `cairn logs ${namespace}/translation/nightly/mt-de-en-restarted --grep Error`,
      shows: "why a run crashed before it was resumed",
    },
    {
      command: `cairn lineage ${namespace}/speech/en_wav2vec/wav2vec-distilled`,
      shows: "four generations, from the corpus to the distilled model",
    },
  ];
}

function parseSeed(text: string): number {
  const seed = Number(text);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new InvalidArgumentError("It must be a whole number of at least 0.");
  return seed;
}
