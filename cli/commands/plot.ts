import { InvalidArgumentError, Option, type Command } from "commander";
import type { Cli } from "../cli.ts";
import { BANDS } from "../plot/read-groups.ts";
import { parsePlace, type PlotOptions } from "../plot/plot-request.ts";
import { plot } from "../plot/plot.ts";

export default function add(command: Command, cli: Cli): void {
  command
    .argument("<words...>", "runs, then metrics; metrics may be globs such as 'train/*'")
    .usage("RUN… METRIC… [options]")
    .addOption(
      new Option("-x, --x <axis>", "the axis across").choices(["step", "time", "elapsed"]).default("step"),
    )
    .option("--smooth <weight>", "draw a smoothed line; 0 to 1, the weight of the past", parseWeight)
    .option("--log", "a logarithmic axis for the values")
    .option("--from <place>", "begin here: a step, a time, or a span such as 2h with --x elapsed")
    .option("--to <place>", "end here")
    .option("--width <columns>", "of the whole picture (default: the terminal's)", parseSize)
    .option("--height <rows>", "of one chart", parseSize)
    .option("-n, --namespace <path>", "with words that are all metrics: the runs in here")
    .option("-q, --query <query>", "with words that are all metrics: the runs that match")
    .option("--limit <count>", "of runs that a namespace or query chooses", parseSize, 8)
    .option("-g, --group-by <columns>", "one line per value, such as params.lr, instead of one per run")
    .addOption(new Option("--band <what>", "around the mean of a group").choices(BANDS).default("std"))
    .option("--ascii", "no braille, for terminals that have none")
    .addHelpText(
      "after",
      `
Every line says what it is: exact, or the band (least and largest value per dot) of so many points. No spike is
lost, however many points there are.

Examples:
  cairn plot wav2vec-base val/wer
  cairn plot run-a run-b 'train/*' --smooth 0.9
  cairn plot run-a train/loss --log --from 1000
  cairn plot -n demo/speech/sweep val/wer --group-by params.lr
  cairn plot -q 'status = "running"' train/loss --x elapsed
  cairn plot run-a val/acc --json`,
    )
    .action(async (words: string[], options: PlotOptions) => {
      // Read early: a mistake in them is one whatever the server says.
      const range = {
        axis: options.x,
        from: parsePlace(options.from, options.x),
        to: parsePlace(options.to, options.x),
      };
      await plot(cli, words, options, range);
    });
}

function parseWeight(text: string): number {
  const weight = Number(text);
  if (text.trim() === "" || !(weight >= 0 && weight < 1))
    throw new InvalidArgumentError("It is no number from 0 to below 1.");
  return weight;
}

function parseSize(text: string): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1 || size > 1_000)
    throw new InvalidArgumentError("It is no number from 1 to 1000.");
  return size;
}
