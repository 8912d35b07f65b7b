const KEPT_MS = 60_000;

/** Hands a text to the browser as a file. */
export function downloadText(name: string, type: string, text: string): void {
  download(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // It is read after the click.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
