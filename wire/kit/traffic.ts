import { limits } from "#lang/limits.ts";
import type { QuotaLimits } from "#core/quota/account.ts";
import { Quotas } from "#core/quota/quotas.ts";
import { WorkSlots } from "#core/quota/work-slots.ts";
import { ByteBudget } from "#wire/kit/byte-budget.ts";

/** What all wires of a server share, so that neither one caller nor all together use it up. */
export interface Traffic {
  quotas: Quotas;
  /** Request bodies from their first byte until their call is done. */
  bodies: ByteBudget;
  /** Answers until the client has taken them. */
  answers: ByteBudget;
  /** Reads that take long. */
  work: WorkSlots;
}

export function openTraffic(quota: QuotaLimits): Traffic {
  return {
    quotas: new Quotas(quota, () => performance.now()),
    bodies: new ByteBudget("request bodies", limits.bodiesBytesMax),
    answers: new ByteBudget("answers", limits.answersBytesMax),
    work: new WorkSlots({
      perOwnerMax: limits.workPerPrincipalMax,
      allMax: limits.workMax,
      waitingPerOwnerMax: limits.workWaitingPerPrincipalMax,
    }),
  };
}
