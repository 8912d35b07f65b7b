import { Failure } from "../../failure.ts";
import { codeOfStatus } from "../../http-failure.ts";

interface MLflowErrorOptions {
  /** MLflow's own word, such as RESOURCE_DOES_NOT_EXIST; "UNREACHABLE" when no answer came. */
  reason: string;
  /** 0 when no answer came. */
  status: number;
  facts?: Record<string, string>;
  cause?: unknown;
}

/** An error of an MLflow server or of the network. */
export class MLflowError extends Failure {
  readonly status: number;

  constructor(message: string, { status, ...more }: MLflowErrorOptions) {
    super(codeOfStatus(status), message, more);
    this.name = "MLflowError";
    this.status = status;
  }
}

export function hasReason(thrown: unknown, reason: string): boolean {
  return thrown instanceof MLflowError && thrown.reason === reason;
}
