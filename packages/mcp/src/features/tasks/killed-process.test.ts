import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { eventually } from '../../../test/eventually.ts';
import { createTaskServer, openSharedStore } from '../../../test/stores/shared-tasks.ts';
import { spawnHttpServer } from '../../../test/programs/spawn-server.ts';
import { MCPClient } from '../../client/index.js';

const urls = { PostgreSQL: readTestVariable('QUIVER_POSTGRES_URL'), Redis: readTestVariable('QUIVER_REDIS_URL') };

for (const [service, url = ''] of Object.entries(urls)) {
  test.skipIf(url === '')(`tasks of a process that was killed run again once, or fail, with ${service}`, async () => {
    const name = `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
    const { store, close } = await openSharedStore(url, name);
    const runs: string[] = [];
    const servers = [1, 2].map(() => createTaskServer(store, (tool) => runs.push(tool)));
    const killed = await spawnHttpServer('shared-task-server.ts', url, name);
    const first = new MCPClient({ id: name, servers: { it: { url: killed.url, protocol: 'modern' } } });
    const others = servers.map(
      (server, index) => new MCPClient({ id: `${name}${index}`, servers: { it: { server, protocol: 'modern' } } }),
    );
    try {
      for (const client of [first, ...others])
        await client.elicitation.onRequest('it', async () => ({ action: 'accept', content: { name: 'Ada' } }));
      const [greet, once] = await Promise.all(
        ['greet', 'once'].map((tool) => first.tasks.start({ serverName: 'it', name: tool })),
      );
      const unasked = await first.tasks.start({ serverName: 'it', name: 'greet' });
      if (!greet || !once) throw new Error('unreachable');
      for (const handle of [greet, once])
        await eventually(async () => expect((await first.tasks.get(handle)).status).toBe('input_required'));
      await killed.stop();
      // Its sign of life would end after 20 seconds.
      for (const key of await store.keys('instance/')) await store.delete(key);

      const results = await Promise.all(others.map((client) => client.tasks.result(greet)));
      for (const { content } of results) expect(content).toEqual([{ type: 'text', text: 'Hello, Ada' }]);
      for (const client of others) await expect(client.tasks.result(once)).rejects.toThrow('process');
      // The other task ran again too, although no client asked for it.
      await eventually(() => expect(runs).toEqual(['greet', 'greet']));
      expect((await others[0]?.tasks.result(unasked))?.content).toEqual([{ type: 'text', text: 'Hello, Ada' }]);
    } finally {
      await Promise.all([first, ...others].map((client) => client.disconnect()));
      await killed.stop();
      await Promise.all(servers.map((server) => server.close({ grace: 0 })));
      await Promise.all((await store.keys('')).map((key) => store.delete(key)));
      await close();
      if (url.startsWith('postgres')) {
        const pool = new Pool({ connectionString: url });
        await pool.query(`DROP SCHEMA IF EXISTS "${name}" CASCADE`);
        await pool.end();
      }
    }
  });
}
