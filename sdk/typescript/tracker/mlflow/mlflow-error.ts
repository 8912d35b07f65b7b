/** What an MLflow server, or the way to it, said. */
export class MLflowError extends Error {
  /** MLflow's own word, such as RESOURCE_DOES_NOT_EXIST; "UNREACHABLE" when no answer came. */
  readonly code: string;
  /** 0 when no answer came. */
  readonly status: number;

  constructor(message: string, { code, status, cause }: { code: string; status: number; cause?: unknown }) {
    super(message, { cause });
    this.name = "MLflowError";
    this.code = code;
    this.status = status;
  }
}

export function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof MLflowError && thrown.code === code;
}
