// Looks for the viewer where nothing is installed, and prints what is said then.
import { readViewer } from './graph-to-html.js';

await readViewer('file:///nowhere/index.js').catch((error: unknown) => {
  const { code, message, cause } = error as { code: string; message: string; cause: { code: string } };
  process.stdout.write(JSON.stringify([code, message, cause.code]));
});
