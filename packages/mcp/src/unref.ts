/** Lets the process end while a timer waits. Outside of Node timers are numbers and keep nothing alive. */
export function unref<Timer extends NodeJS.Timeout>(timer: Timer): Timer {
  timer.unref?.();
  return timer;
}
