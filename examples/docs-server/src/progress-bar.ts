/**
 * Creates a progress display: a bar with the time left that redraws itself in a terminal, or one line per 10 % in a pipe. The time starts
 * with the call.
 */
export function createProgressBar(
  label: string,
  stream: NodeJS.WriteStream = process.stderr,
): (done: number, total: number) => void {
  const started = performance.now();
  let lastTenth = -1;
  return (done, total) => {
    const part = total === 0 ? 1 : done / total;
    const counts = `${done.toLocaleString('en')}/${total.toLocaleString('en')}`;
    if (stream.isTTY) {
      const filled = Math.round(part * 24);
      const seconds = Math.ceil(((performance.now() - started) / 1000) * (1 / part - 1));
      const left = part > 0 && part < 1 ? `, ${toClock(seconds)} left` : '';
      // The spaces overwrite a longer line before.
      const bar = `${'█'.repeat(filled)}${'░'.repeat(24 - filled)}`;
      stream.write(`\r${label} ${bar} ${counts}${left.padEnd(16)}${part === 1 ? '\n' : ''}`);
      return;
    }
    const tenth = Math.floor(part * 10);
    if (tenth === lastTenth) return;
    lastTenth = tenth;
    stream.write(`${label} ${counts}\n`);
  };
}

function toClock(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
}
