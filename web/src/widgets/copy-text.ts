/** Copies a text to the clipboard. False if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Absent on pages without TLS that are not on this machine.
    if ("clipboard" in navigator) await navigator.clipboard.writeText(text);
    else return copyOldWay(text);
    return true;
  } catch {
    return copyOldWay(text);
  }
}

function copyOldWay(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } finally {
    area.remove();
  }
}
