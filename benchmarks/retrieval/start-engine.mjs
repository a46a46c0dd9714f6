import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts an engine in a separate process. @returns `run`, which runs one of its jobs, and `stop` */
export function startEngine(file, ...data) {
  const child = fork(fileURLToPath(new URL('engine.mjs', import.meta.url)), [file, ...data.map(String)]);
  const ended = once(child, 'exit');
  return {
    run: async (job, options = {}) => {
      const answer = Promise.race([once(child, 'message'), ended.then(() => [{ error: `${file} ended` }])]);
      child.send({ job, ...options });
      const [{ result, error }] = await answer;
      if (error) throw new Error(error);
      return result;
    },
    stop: async () => {
      // Some engines keep threads running, which would prevent the exit.
      child.kill('SIGKILL');
      await ended;
    },
  };
}
