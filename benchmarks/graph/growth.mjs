import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { table } from '../statistics.mjs';

const dimension = 384;

/** Builds graphs of growing size, each in a separate process, to measure its memory. */
export function measureGrowth(sizes) {
  const worker = fileURLToPath(new URL('build-one.mjs', import.meta.url));
  return sizes.map((count) => {
    const answer = execFileSync(process.execPath, [worker, String(count), String(dimension)], { encoding: 'utf8' });
    return { count, ...JSON.parse(answer) };
  });
}

export function growthTable(points) {
  return table(
    ['nodes', 'edges', 'build', 'memory at most', 'of it vectors', 'ranking'],
    points.map(({ count, edges, buildMs, maxRssMb, rankMs }) => [
      count.toLocaleString('en'),
      edges.toLocaleString('en'),
      `${(buildMs / 1000).toPrecision(2)} s`,
      `${Math.round(maxRssMb)} MB`,
      `${Math.round((count * dimension * 4) / 1e6)} MB`,
      `${rankMs.toPrecision(2)} ms`,
    ]),
  );
}
