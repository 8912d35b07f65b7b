import { createInterface } from "node:readline";
import { LineRedactor } from "#sdk/capture/secrets/secret-lines.ts";
import { init } from "#sdk/run/init.ts";
import type { EndStatus } from "#sdk/run/run.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { countOf } from "#lang/words/numbers.ts";
import { parseKatibLine } from "./katib-lines.ts";

export interface PipeOptions {
  runId: string;
  filter: RegExp;
  labels: Record<string, string>;
  status: EndStatus | undefined;
}

/**
 * Extracts metrics from standard input and passes every line through, unless it prints JSON at the end. Lines without a
 * metric go to the log of the run, without secrets. Each metric counts its own steps.
 */
export async function pipeRun(cli: Cli, { runId, filter, labels, status }: PipeOptions): Promise<void> {
  const server = await cli.connect();
  const run = await init({
    server: server.url,
    env: cli.env,
    resume: runId,
    capture: false,
    heartbeatSeconds: 0,
    primary: status !== undefined,
  });
  const steps = new Map<string, number>();
  const first = run.recorder.nextStep;
  const redactor = new LineRedactor(cli.env);
  let points = 0;
  let lines = 0;
  let leftOut = 0;
  for await (const line of createInterface({ input: cli.surroundings.stdin, crlfDelay: Infinity })) {
    if (cli.options.json !== true) cli.print(line);
    const { timeUs, metrics } = parseKatibLine(line, filter);
    for (const [name, value] of metrics) {
      const step = steps.get(name) ?? first;
      steps.set(name, step + 1);
      run.log({ [name]: value }, { step, labels, time: timeUs });
    }
    points += metrics.length;
    if (metrics.length > 0) continue;
    // It was printed by another program, and counts as captured from its console.
    if (run.printed(redactor.redact(line), timeUs === undefined ? {} : { timeUs })) lines++;
    else leftOut++;
  }
  const report = await run.finish(status ?? "finished");
  if (leftOut > 0) {
    cli.note(`Left out ${countOf(leftOut, "line")} without a metric: the namespace forbids console capture.`);
  }
  if (cli.options.json === true) cli.printJson({ runId, points, lines, delivered: report.delivered });
  if (report.delivered) return;
  throw new CommandError(`${report.envelopesLeft} envelopes are not delivered yet`, {
    exitCode: EXIT.unreachable,
    hint: `deliver them with \`cairn sync ${report.spool}\``,
  });
}
