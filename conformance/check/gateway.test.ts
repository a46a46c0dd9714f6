// The official suites run against a gateway in front of the server: what passes directly passes through it, in both eras on both sides.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InMemoryEventStore, MCPServer } from '@quiver/mcp/server';
import { createConformanceServer } from '../src/server.ts';
import { runOfficialSuite } from './official-suite.ts';

/** Scenarios of the modern era that a legacy server behind the gateway cannot pass: it names no requests, and requires no capabilities. */
const ofModernServers = [
  'server-stateless',
  'input-required-result-basic-elicitation',
  'input-required-result-capability-check',
];

const cases = [
  { protocol: 'legacy', requirements: '2025-11-25', failing: [] },
  { protocol: 'modern', requirements: '2025-11-25', failing: [] },
  { protocol: 'legacy', requirements: '2026-07-28', failing: ofModernServers },
  { protocol: 'modern', requirements: '2026-07-28', failing: [] },
] as const;

for (const { protocol, requirements, failing } of cases) {
  const isLong = requirements === '2026-07-28' && !process.env['QUIVER_LONG'];
  test(
    `a gateway to a ${protocol} server passes ${requirements}`,
    { skip: isLong && 'QUIVER_LONG is not set' },
    async () => {
      const upstream = createConformanceServer();
      const gateway = new MCPServer({ name: 'Gateway', version: '1.0.0', tools: {} });
      await gateway.proxy('conformance', { server: upstream, protocol }, { prefix: false });
      try {
        const { port } = await gateway.listen({ eventStore: new InMemoryEventStore() });
        const select = ['server', '--url', `http://localhost:${port}/mcp`, '--requirements', requirements];
        const { scenarios, unscored, output } = await runOfficialSuite('conformance-0.2', select);
        const decisive = [...scenarios].filter(([scenario]) => !unscored.has(scenario));
        const failed = decisive.filter(([, passed]) => !passed).map(([scenario]) => scenario);
        assert.deepEqual(failed, failing, output);
        assert.equal(decisive.length, requirements === '2026-07-28' ? 37 : 30);
      } finally {
        await gateway.close({ grace: 1000 });
        await upstream.close({ grace: 1000 });
      }
    },
  );
}
