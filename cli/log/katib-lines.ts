/** Lines as Katib's collector of standard output reads them. */

/** Katib's own default. */
export const KATIB_FILTER = String.raw`([\w|-]+)\s*=\s*([+-]?\d*(\.\d+)?([Ee][+-]?\d+)?)`;

const TIME = /^(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)\s/;

export interface KatibLine {
  /** Microseconds since 1970; undefined when the line does not begin with a time. */
  timeUs: number | undefined;
  metrics: [name: string, value: number][];
}

/** The metrics of a line. `filter` is global and has the name in its first group, the value in its second. */
export function parseKatibLine(line: string, filter: RegExp): KatibLine {
  const time = TIME.exec(line);
  const metrics: [string, number][] = [];
  for (const [, name, value] of (time === null ? line : line.slice(time[0].length)).matchAll(filter)) {
    // The pattern also matches a name without a number behind it.
    if (name === undefined || value === undefined || !/\d/.test(value)) continue;
    metrics.push([name.trim(), Number(value)]);
  }
  return { timeUs: time === null ? undefined : timeOf(time), metrics };
}

function timeOf([, seconds, fraction = "", zone]: RegExpExecArray): number | undefined {
  const ms = Date.parse(`${seconds!.toUpperCase().replace(" ", "T")}${zone!.toUpperCase()}`);
  if (Number.isNaN(ms)) return undefined;
  return ms * 1000 + Math.floor(Number(`0${fraction}`) * 1e6);
}
