/** What one check found. */
export interface Finding {
  /** What was looked at, such as "clock". */
  check: string;
  level: "ok" | "warn" | "bad";
  /** The result as text, without the check's name. */
  text: string;
  /** How to fix it; a command where possible. */
  fix?: string;
}

export function ok(check: string, text: string): Finding {
  return { check, level: "ok", text };
}

export function warn(check: string, text: string, fix: string): Finding {
  return { check, level: "warn", text, fix };
}

export function bad(check: string, text: string, fix: string): Finding {
  return { check, level: "bad", text, fix };
}
