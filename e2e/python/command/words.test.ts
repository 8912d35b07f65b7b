import { expect, it } from "vitest";
import { formatBytes, formatNumber } from "#lang/words/numbers.ts";
import { formatAgo, formatDuration, isoTime } from "#lang/words/times.ts";
import { shellLine } from "#lang/words/shell-line.ts";
import { csvRow } from "#base/csv.ts";
import { nearest } from "#base/nearest.ts";
import { cut, printable, widthOf } from "#cli/output/text.ts";
import { askPython } from "../python.ts";

const NOW_S = 1_794_736_707.25;

it("T235 numbers, times and texts are written as in the whole command line", async () => {
  let state = 20_261_119;
  const next = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32;
  const numbers = [0, 1, -1, 0.5, 2.5, 1.005, 0.99995, 9999.5, 1e15, 1e-4, 123_456.75, 1e21, -1e-7, 5e-324];
  for (let i = 0; i < 3_000; i++) {
    const value = (next() - 0.5) * 10 ** (next() * 40 - 20);
    // JSON has no -0.
    numbers.push(i % 3 === 0 ? Math.round(value) || 0 : i % 3 === 1 ? value : Number(value.toPrecision(4)));
  }
  const spans = numbers.map((value) => Math.abs(value) % 1e9);
  const times = spans.map((span) => Math.round((NOW_S - span) * 1e6));
  const texts = [
    "",
    "a b",
    "-x",
    "it's",
    "=1+1",
    "1;=cmd",
    "\ttab",
    "中文宽",
    "é",
    "a\u202eb\u0007",
    'say "hi"',
    "@x",
    "-0.5",
    "two\nlines",
  ];
  const pairs = ["wav2vec-bsae", "shwo", "ls", "completely different", "Bse"];
  const candidates = ["wav2vec-base", "show", "ls", "base"];
  const program = [
    "import json, sys",
    "from cairn.command.output import csv_text, nearest, shell, text, words",
    "given = json.load(open(sys.argv[1]))",
    "print(json.dumps({",
    "  'numbers': [words.format_number(float(one)) for one in given['numbers']],",
    "  'bytes': [words.format_bytes(abs(one)) for one in given['numbers'] if abs(one) < 1e18],",
    "  'durations': [words.format_duration(one) for one in given['spans']],",
    "  'agos': [words.format_ago(one, given['now']) for one in given['times']],",
    "  'isos': [words.iso_time(one) for one in given['times']],",
    "  'shell': shell.shell_line(given['texts']),",
    "  'csv': csv_text.csv_row(given['texts']),",
    "  'printable': [text.printable(one) for one in given['texts']],",
    "  'widths': [text.width_of(text.printable(one)) for one in given['texts']],",
    "  'cut': [text.cut(text.printable(one), 3) for one in given['texts']],",
    "  'nearest': [nearest.nearest(one, given['candidates']) for one in given['pairs']],",
    "}))",
  ].join("\n");
  const given = { numbers, spans, times, texts, pairs, candidates, now: NOW_S };
  const found = JSON.parse(await askPython(program, given)) as Record<string, unknown>;
  expect(found["numbers"]).toEqual(numbers.map((value) => formatNumber(value)));
  expect(found["bytes"]).toEqual(
    numbers
      .map(Math.abs)
      .filter((value) => value < 1e18)
      .map((value) => formatBytes(value)),
  );
  expect(found["durations"]).toEqual(spans.map(formatDuration));
  expect(found["agos"]).toEqual(times.map((time) => formatAgo(time, NOW_S * 1000)));
  expect(found["isos"]).toEqual(times.map(isoTime));
  expect(found["shell"]).toBe(shellLine(texts));
  expect(found["csv"]).toBe(csvRow(texts));
  expect(found["printable"]).toEqual(texts.map(printable));
  expect(found["widths"]).toEqual(texts.map((text) => widthOf(printable(text))));
  expect(found["cut"]).toEqual(texts.map((text) => cut(printable(text), 3)));
  expect(found["nearest"]).toEqual(pairs.map((word) => nearest(word, candidates) ?? null));
});
