import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Balancer } from './balancer.ts';
import { findPort } from './instances.ts';

/** How each program is started with its settings. */
const commands = {
  nginx: { file: 'nginx.conf', args: ['-p', '.', '-g', 'daemon off;', '-c'] },
  haproxy: { file: 'haproxy.cfg', args: ['-f'] },
  caddy: { file: 'Caddyfile', args: ['run', '--adapter', 'caddyfile', '--config'] },
} as const;

/** Milliseconds that instances serve behind this program after the signal as before: until it has seen a failed health check. */
export function drainDelayOf(program?: string): number {
  return program && basename(program) === 'caddy' ? 2_000 : 0;
}

/**
 * Starts nginx, HAProxy or Caddy with the settings of this folder, whose ports are replaced.
 *
 * @param program - path; its last part is the name
 */
export async function startProxy(program: string, ports: readonly number[]): Promise<Balancer> {
  const { file, args } = commands[basename(program) as keyof typeof commands];
  const port = await findPort();
  const folder = await mkdtemp(join(tmpdir(), 'quiver-proxy-'));
  const settings = await readFile(new URL(`../${file}`, import.meta.url), 'utf8');
  const numbers = [port, ...ports];
  const text = settings.replaceAll(/127\.0\.0\.1:300(\d)/g, (_match, index) => `127.0.0.1:${numbers[Number(index)]}`);
  await writeFile(join(folder, file), text);
  const child = spawn(program, [...args, join(folder, file)], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}/mcp`;
  const isReady = (): Promise<boolean> =>
    fetch(url).then(
      ({ status }) => status < 500,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}.`);
    await setTimeout(50);
  }
  const close = async (): Promise<void> => {
    child.kill();
    await exited;
    await rm(folder, { recursive: true });
  };
  return { url, close };
}
