const KEPT_MS = 60_000;

/** Hands a text to the browser as a file. */
export function downloadText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // It is read after the click.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
