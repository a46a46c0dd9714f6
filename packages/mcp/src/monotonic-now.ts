/**
 * Returns the time in milliseconds since 1970 by a clock that is set once, at the start of the process, and then only moves forward. For
 * lifetimes and limits: the wall clock of a host is set back and forward by its operator, its time service and its hypervisor.
 */
export function monotonicNow(): number {
  return performance.timeOrigin + performance.now();
}

/** Longest delay of a timer in milliseconds; a longer one would fire at once. */
export const MAX_TIMER_DELAY: number = 2 ** 31 - 1;
