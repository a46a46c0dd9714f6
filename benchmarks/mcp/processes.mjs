import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** Anchors run in their installation folder, so that their imports resolve. */
export function serverFile(name, folder = join(here, 'servers')) {
  return join(folder, `${name}.mjs`);
}

export async function startServer({ name, mode, tools, folder }) {
  const child = fork(serverFile(name, folder), [mode, String(tools)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} exited with code ${code}`)));
  failed.catch(() => {});
  const run = async (message) => {
    child.send(message);
    const [answer] = await Promise.race([once(child, 'message'), failed]);
    return answer;
  };
  const [{ url, token }] = await Promise.race([once(child, 'message'), failed]);
  return { name, mode, url, token, run, ask: (ask) => run({ ask }), stop: () => void child.kill('SIGKILL') };
}

export function startLoadClient() {
  const child = fork(join(here, 'load-client.mjs'));
  const failed = once(child, 'exit').then(() => Promise.reject(new Error('the load client crashed')));
  failed.catch(() => {});
  return {
    run: async (message) => {
      child.send(message);
      const [{ result, error }] = await Promise.race([once(child, 'message'), failed]);
      if (error) throw new Error(error);
      return result;
    },
    stop: () => void child.kill('SIGKILL'),
  };
}
