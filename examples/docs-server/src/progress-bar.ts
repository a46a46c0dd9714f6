/** Creates a progress display: a bar that redraws itself in a terminal, or one line per 10 % in a pipe. */
export function createProgressBar(
  label: string,
  stream: NodeJS.WriteStream = process.stderr,
): (done: number, total: number) => void {
  let lastTenth = -1;
  return (done, total) => {
    const part = total === 0 ? 1 : done / total;
    const counts = `${done.toLocaleString('en')}/${total.toLocaleString('en')}`;
    if (stream.isTTY) {
      const filled = Math.round(part * 24);
      stream.write(`\r${label} ${'█'.repeat(filled)}${'░'.repeat(24 - filled)} ${counts}${part === 1 ? '\n' : ''}`);
      return;
    }
    const tenth = Math.floor(part * 10);
    if (tenth === lastTenth) return;
    lastTenth = tenth;
    stream.write(`${label} ${counts}\n`);
  };
}
