// One of several processes with the same tasks; prints its URL.
import { createTaskServer, openSharedStore } from '../stores/shared-tasks.ts';

const [url = '', name = ''] = process.argv.slice(2);
const { store } = await openSharedStore(url, name);
const running = await createTaskServer(store).listen({ port: 0 });
// oxlint-disable-next-line no-console -- the parent process waits for this line
console.log(running.url);
