import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Balancer } from './balancer.ts';
import { findPort } from './instances.ts';

/**
 * Starts nginx with `nginx.conf`, whose ports are replaced.
 *
 * @param program - path of nginx
 */
export async function startNginx(program: string, ports: readonly number[]): Promise<Balancer> {
  const port = await findPort();
  const folder = await mkdtemp(join(tmpdir(), 'quiver-nginx-'));
  const settings = await readFile(new URL('../nginx.conf', import.meta.url), 'utf8');
  const numbers = [port, ...ports];
  const text = settings.replaceAll(/127\.0\.0\.1:300(\d)/g, (_match, index) => `127.0.0.1:${numbers[Number(index)]}`);
  await writeFile(join(folder, 'nginx.conf'), text);
  const nginx = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(nginx, 'exit');
  const url = `http://127.0.0.1:${port}/mcp`;
  while (
    await fetch(url).then(
      () => false,
      () => true,
    )
  ) {
    if (nginx.exitCode !== null) throw new Error(`nginx ended with ${nginx.exitCode}.`);
    await setTimeout(50);
  }
  const close = async (): Promise<void> => {
    nginx.kill();
    await exited;
    await rm(folder, { recursive: true });
  };
  return { url, close };
}
