import { InMemoryStore, type SharedStore } from '@quiver/mcp';
import { PostgresStore } from '@quiver/mcp/pg';
import { RedisStore } from '@quiver/mcp/redis';
import { createClient } from '@redis/client';
import { storeOfParent } from './store-of-parent.ts';

/** A store, and the end of the connection behind it. */
export interface OpenStore {
  readonly sharedStore: SharedStore;
  close(): Promise<void>;
}

/**
 * Opens the store that all instances share.
 *
 * @param url - of a PostgreSQL or a Redis server; `memory`: the first process has the store
 * @param name - tables or keys of one installation begin with it
 */
export async function openStore(url: string, name: string): Promise<OpenStore> {
  if (url === 'memory') {
    const sharedStore = process.send ? storeOfParent() : new InMemoryStore();
    return { sharedStore, close: () => sharedStore.close() };
  }
  if (url.startsWith('postgres')) {
    const sharedStore = new PostgresStore({ connectionString: url, tablePrefix: `${name}_` });
    return { sharedStore, close: () => sharedStore.close() };
  }
  const client = createClient({ url });
  // Without a listener, a lost connection would end the process.
  client.on('error', (error) => console.error('Redis:', error));
  await client.connect();
  const sharedStore = new RedisStore({ client, keyPrefix: `${name}:` });
  const close = async (): Promise<void> => {
    await sharedStore.close();
    client.destroy();
  };
  return { sharedStore, close };
}
