/** The lines of two texts that differ, found with the algorithm of Myers: the shortest script that turns one into the other. */
export interface LineEdit {
  sign: " " | "-" | "+";
  line: string;
}

/** Texts that need more edits than this are shown as two different ones; the work grows with its square. */
const EDITS_MAX = 1_500;

export function lineEdits(a: readonly string[], b: readonly string[]): LineEdit[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end++;
  const same = (line: string): LineEdit => ({ sign: " ", line });
  return [
    ...a.slice(0, start).map(same),
    ...middleEdits(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

function middleEdits(a: readonly string[], b: readonly string[]): LineEdit[] {
  const most = Math.min(a.length + b.length, EDITS_MAX);
  /** How far along `a` each diagonal has come, after every number of edits. */
  const trace: Int32Array[] = [];
  const reach = new Int32Array(2 * most + 3);
  for (let edits = 0; edits <= most; edits++) {
    trace.push(reach.slice());
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = comesDown(reach, diagonal, edits, most)
        ? reach[diagonal + 1 + most + 1]!
        : reach[diagonal - 1 + most + 1]! + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      reach[diagonal + most + 1] = x;
      if (x >= a.length && x - diagonal >= b.length) return walkBack(a, b, trace, edits, most);
    }
  }
  return [
    ...a.map((line): LineEdit => ({ sign: "-", line })),
    ...b.map((line): LineEdit => ({ sign: "+", line })),
  ];
}

/** Whether the best way onto a diagonal adds a line of `b`, rather than leaving out one of `a`. */
function comesDown(reach: Int32Array, diagonal: number, edits: number, most: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && reach[diagonal - 1 + most + 1]! < reach[diagonal + 1 + most + 1]!;
}

function walkBack(
  a: readonly string[],
  b: readonly string[],
  trace: readonly Int32Array[],
  last: number,
  most: number,
): LineEdit[] {
  const found: LineEdit[] = [];
  let x = a.length;
  let y = b.length;
  for (let edits = last; edits >= 0; edits--) {
    const reach = trace[edits]!;
    const diagonal = x - y;
    const down = comesDown(reach, diagonal, edits, most);
    const before = down ? diagonal + 1 : diagonal - 1;
    const startX = edits === 0 ? 0 : reach[before + most + 1]!;
    const startY = edits === 0 ? 0 : startX - before;
    const [afterX, afterY] = edits === 0 ? [0, 0] : down ? [startX, startY + 1] : [startX + 1, startY];
    while (x > afterX && y > afterY) {
      found.push({ sign: " ", line: a[x - 1]! });
      x--;
      y--;
    }
    if (edits === 0) break;
    found.push(down ? { sign: "+", line: b[y - 1]! } : { sign: "-", line: a[x - 1]! });
    x = startX;
    y = startY;
  }
  return found.reverse();
}

/** As `diff -u` prints it, without the names of the files; empty when they are the same. */
export function unifiedDiff(a: readonly string[], b: readonly string[], context = 3): string[] {
  const edits = lineEdits(a, b);
  const near = edits.map(() => false);
  for (const [i, { sign }] of edits.entries()) {
    if (sign !== " ") near.fill(true, Math.max(0, i - context), i + context + 1);
  }
  const lines: string[] = [];
  let [lineA, lineB] = [1, 1];
  for (let i = 0; i < edits.length;) {
    let end = i;
    while (end < edits.length && near[end] === near[i]) end++;
    const hunk = edits.slice(i, end);
    const countA = hunk.filter(({ sign }) => sign !== "+").length;
    const countB = hunk.filter(({ sign }) => sign !== "-").length;
    if (near[i] === true) {
      const range = (line: number, count: number) =>
        `${count === 0 ? line - 1 : line}${count === 1 ? "" : `,${count}`}`;
      lines.push(`@@ -${range(lineA, countA)} +${range(lineB, countB)} @@`);
      lines.push(...hunk.map(({ sign, line }) => sign + line));
    }
    lineA += countA;
    lineB += countB;
    i = end;
  }
  return lines;
}
