// The common part of every measured server process: it reports its URL and, on request, its CPU time and memory.

/** Names of the tools of every system: `echo`, `add`, and further tools up to the requested count. */
export const toolCount = Number(process.argv[3] ?? 10);
export const mode = process.argv[2] ?? 'sessions';

export function fillers() {
  return Array.from({ length: Math.max(0, toolCount - 2) }, (_, index) => `tool_${String(index).padStart(4, '0')}`);
}

/** @param token - that the load client sends; servers without authorization ignore it */
export function ready(url, token = 'a-token') {
  process.send?.({ url, token });
}

process.on('message', ({ ask }) => {
  if (ask === undefined) return;
  if (ask === 'stop') process.exit(0);
  if (ask === 'heap') for (let count = 0; count < 6; count += 1) globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system, heapUsed, rss });
});
