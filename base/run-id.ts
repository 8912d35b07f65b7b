const RUN_ID = /^[0-9a-f]{32}$/;

export function isRunId(text: string): boolean {
  return text.length === 32 && RUN_ID.test(text);
}
