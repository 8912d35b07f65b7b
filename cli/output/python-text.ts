/** Values as Python prints them, for tables that are compared with TorchX's own. */
export type PythonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly PythonValue[]
  | { readonly [key: string]: PythonValue };

/** `str(value)`. */
export function pythonStr(value: PythonValue): string {
  return typeof value === "string" ? value : pythonRepr(value);
}

/** `repr(value)`; whole numbers are taken for integers, unless they are too large to be one here. */
export function pythonRepr(value: PythonValue): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "boolean":
      return value ? "True" : "False";
    case "bigint":
      return String(value);
    case "number":
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : floatRepr(value);
    default:
      break;
  }
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map((item: PythonValue) => pythonRepr(item)).join(", ")}]`;
  const entries = Object.entries(value as Record<string, PythonValue>);
  return `{${entries.map(([key, item]) => `${quoted(key)}: ${pythonRepr(item)}`).join(", ")}}`;
}

function floatRepr(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const { sign, digits, exponent } = shortest(value);
  if (exponent < -4 || exponent >= 16) return sign + scientific(digits, exponent);
  return sign + positional(digits, exponent, true);
}

/** As many as this language prints; a number that lies between two of six digits has seven. */
const DIGITS_MAX = 100;

/** `format(value, "g")`: six digits that count, without zeros at the end. */
export function formatG(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [mantissa, exponentText] = sixDigits(Math.abs(value)).split("e") as [string, string];
  const exponent = Number(exponentText);
  const digits = mantissa.replace(".", "").replace(/0+$/, "") || "0";
  if (exponent < -4 || exponent >= 6) return sign + scientific(digits, exponent);
  return sign + positional(digits, exponent, false);
}

/** Python rounds what lies exactly between two to the even one, this language to the larger. */
function sixDigits(size: number): string {
  const isBetween = /^\d\.\d{4}[02468]50*e/.test(size.toExponential(DIGITS_MAX));
  if (!isBetween) return size.toExponential(5);
  return size.toExponential(DIGITS_MAX).replace(/50*e/, "e");
}

function shortest(value: number): { sign: string; digits: string; exponent: number } {
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [mantissa, exponent] = Math.abs(value).toExponential().split("e") as [string, string];
  return { sign, digits: mantissa.replace(".", ""), exponent: Number(exponent) };
}

function scientific(digits: string, exponent: number): string {
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`;
  const size = String(Math.abs(exponent)).padStart(2, "0");
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
}

function positional(digits: string, exponent: number, withPoint: boolean): string {
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const rest = digits.slice(exponent + 1);
  if (rest === "") return withPoint ? `${whole}.0` : whole;
  return `${whole}.${rest}`;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\'\u0000-\u001f\u007f-\u00a0\u00ad]/g, (char) => {
    if (char === "'") return quote === "'" ? "\\'" : char;
    return ESCAPES.get(char) ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return quote + escaped + quote;
}
