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
      new Option("-x, --x <axis>", "the horizontal axis")
        .choices(["step", "time", "elapsed"])
        .default("step"),
    )
    .option("--smooth <weight>", "draw a smoothed line; 0 to 1, the weight of the past", parseWeight)
    .option("--log", "a logarithmic axis for the values")
    .option("--from <place>", "beginning of the axis: a step, a time, or a span such as 2h with --x elapsed")
    .option("--to <place>", "end of the axis")
    .option("--width <columns>", "of the whole picture (default: the terminal's)", parseSize)
    .option("--height <rows>", "of one chart", parseSize)
    .option("-n, --namespace <path>", "plot the runs of this namespace; all arguments are metrics")
    .option("-q, --query <query>", "plot the runs that match; all arguments are metrics")
    .option("--limit <count>", "how many runs of a namespace or query", parseSize, 8)
    .option("-g, --group-by <columns>", "one line per value, such as params.lr, instead of one per run")
    .addOption(new Option("--band <what>", "around the mean of a group").choices(BANDS).default("std"))
    .option("--ascii", "no braille, for terminals without it")
    .addHelpText(
      "after",
      `
The legend says what each line is: exact, or the band (least and largest value per dot) of so many points. No spike is
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
      // Checked before the server is asked: invalid values are a usage error.
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
    throw new InvalidArgumentError("It must be a number from 0 to below 1.");
  return weight;
}

function parseSize(text: string): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1 || size > 1_000)
    throw new InvalidArgumentError("It must be a number from 1 to 1000.");
  return size;
}
