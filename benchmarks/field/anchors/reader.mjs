// The thread that reads files: it can be ended when a file takes too long.
import { parentPort, workerData } from 'node:worker_threads';

const { readChunks } = await import(workerData);

parentPort.on('message', async ({ path, format }) => {
  try {
    parentPort.postMessage({ chunks: await readChunks(path, format) }, []);
  } catch (error) {
    parentPort.postMessage({ reason: String(error?.message).slice(0, 80) }, []);
  }
});
