/**
 * Returns the time in milliseconds since 1970 by a clock that is set once, at the start of the process, and then only moves forward. For
 * lifetimes and limits: the wall clock of a host is set back and forward by its operator, its time service and its hypervisor.
 */
export function monotonicNow(): number {
  return performance.timeOrigin + performance.now();
}

/** Longest delay of a timer in milliseconds; a longer one would fire at once. */
export const MAX_TIMER_DELAY: number = 2 ** 31 - 1;

/** Returns the delay for a timer: that of a time that is too long for one, such as `Infinity`, is {@link MAX_TIMER_DELAY}. */
export function toTimerDelay(milliseconds: number): number {
  return Math.min(milliseconds, MAX_TIMER_DELAY);
}
