/** A value as people read it: as many digits as are worth reading, always the same so that columns line up; infinities and NaN by name. */
export function valueText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e9) return value.toExponential(3).replace("e+", "e");
  return size >= 1e4 ? Math.round(value).toLocaleString("en") : value.toPrecision(5);
}

/** The same where nothing has to line up: without the zeros at its end. */
export function plainValue(value: number): string {
  const text = valueText(value);
  return text.includes("e") ? text : text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}
