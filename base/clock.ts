/** The time of day. Everything that needs it takes a Clock, so that a test can say what time it is. */
export interface Clock {
  /** Integer microseconds since 1970 UTC; never less than an earlier answer of the same clock. */
  nowUs(): number;
}

export interface TimeSources {
  /** The system's time of day in whole milliseconds; jumps when the clock is set. */
  wallMs(): number;
  /** A steady count of milliseconds with a fraction, from any origin. */
  steadyMs(): number;
}

/**
 * The wall clock says which millisecond it is, the steady clock how far into it. Their offset is
 * taken once and kept while the two agree; when the wall clock was set, it is measured again. After a clock was set
 * back, the answer does not change until the system's time has caught up.
 */
export function clockFrom(sources: TimeSources): Clock {
  let offsetUs = Number.NaN;
  let lastUs = 0;
  return {
    nowUs() {
      const wallUs = sources.wallMs() * 1000;
      const steadyUs = sources.steadyMs() * 1000;
      let us = Math.floor(steadyUs + offsetUs);
      // Also taken when the offset is not known yet: NaN is within no bounds.
      if (!(us >= wallUs && us < wallUs + 1000)) {
        us = us >= wallUs + 1000 && us < wallUs + 2000 ? wallUs + 999 : wallUs;
        offsetUs = us - steadyUs;
      }
      if (us > lastUs) lastUs = us;
      return lastUs;
    },
  };
}

/** The clock of this machine. Each thread has its own; they agree to a millisecond. */
export const systemClock: Clock = clockFrom({
  wallMs: () => Date.now(),
  steadyMs: () => performance.now(),
});
