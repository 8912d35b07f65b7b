/** Metric-specific pictures, as clients log them: JSON with the word for the picture and its numbers. */
export type Picture =
  | { kind: "confusion"; classes: readonly string[]; counts: readonly (readonly number[])[] }
  | {
      kind: "curve";
      name: "roc" | "pr";
      x: readonly number[];
      y: readonly number[];
      xLabel: string;
      yLabel: string;
      area?: number;
    }
  | { kind: "histogram"; edges: readonly number[]; counts: readonly number[] };

const CLASSES_MAX = 40;
const POINTS_MAX = 10_000;

/** undefined when the text is none of these, or incomplete. */
export function readPicture(text: string): Picture | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof given !== "object" || given === null) return undefined;
  const fields = given as Record<string, unknown>;
  switch (fields["picture"]) {
    case "confusion_matrix":
      return confusion(fields);
    case "roc":
    case "pr":
      return curve(fields, fields["picture"]);
    case "histogram":
      return histogram(fields);
    default:
      return undefined;
  }
}

function confusion({ classes, counts }: Record<string, unknown>): Picture | undefined {
  if (!Array.isArray(classes) || classes.length === 0 || classes.length > CLASSES_MAX) return undefined;
  if (!Array.isArray(counts) || counts.length !== classes.length) return undefined;
  if (!counts.every((row) => isNumbers(row) && row.length === classes.length)) return undefined;
  return { kind: "confusion", classes: classes.map(String), counts: counts as number[][] };
}

function curve(
  { x, y, xLabel, yLabel, area }: Record<string, unknown>,
  name: "roc" | "pr",
): Picture | undefined {
  if (!isNumbers(x) || !isNumbers(y) || x.length !== y.length || x.length === 0) return undefined;
  return {
    kind: "curve",
    name,
    x,
    y,
    xLabel: typeof xLabel === "string" ? xLabel : "",
    yLabel: typeof yLabel === "string" ? yLabel : "",
    ...(typeof area === "number" && { area }),
  };
}

function histogram({ edges, counts }: Record<string, unknown>): Picture | undefined {
  if (!isNumbers(edges) || !isNumbers(counts) || edges.length !== counts.length + 1 || counts.length === 0)
    return undefined;
  return { kind: "histogram", edges, counts };
}

function isNumbers(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length <= POINTS_MAX &&
    value.every((one) => typeof one === "number" && Number.isFinite(one))
  );
}
