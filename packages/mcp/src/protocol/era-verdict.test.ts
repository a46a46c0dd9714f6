import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { envelope } from '../../test/wire.ts';
import { metaKeys, MODERN_VERSION } from './constants.js';
import { isPerfectModernRequest, judgeEra } from './era-verdict.js';
import type { JsonRpcRequest } from './json-rpc.js';

const empty = fc.constantFrom<unknown>({}, { a: {} }, { a: 5 }, [], 5, 'text', true, null);
const capabilities = fc.oneof(
  fc.dictionary(
    fc.constantFrom('elicitation', 'sampling', 'roots', 'experimental', 'extensions', 'tasks', 'unknown'),
    fc.oneof(empty, fc.dictionary(fc.constantFrom('form', 'url', 'tools', 'listChanged', 'x'), empty)),
  ),
  empty,
);
const identity = fc.oneof(
  fc.record(
    {
      name: fc.constantFrom('a', '', 5),
      version: fc.constantFrom('1', 5),
      title: fc.constantFrom('A', 5),
      description: fc.constantFrom('A', 5),
      icons: fc.constantFrom([], 5),
      websiteUrl: fc.constantFrom('https://a.example', 'nowhere', 5),
    },
    { requiredKeys: ['name', 'version'] },
  ),
  empty,
);
const meta = fc.record(
  {
    [metaKeys.clientCapabilities]: capabilities,
    [metaKeys.clientInfo]: identity,
    [metaKeys.logLevel]: fc.constantFrom('info', 'loud', 5, null),
    progressToken: fc.constantFrom<unknown>('p', 1, 1.5, null, {}),
    other: empty,
  },
  { requiredKeys: [] },
);
const named = fc.constantFrom<[string, object, string | undefined]>(
  ['tools/call', { name: 'echo' }, 'echo'],
  ['tools/call', { name: '' }, ''],
  ['tools/call', { name: 5 }, undefined],
  ['tools/call', { name: '=?base64?ZWNobw==?=' }, '=?base64?ZWNobw==?='],
  ['resources/read', { uri: 'note://one' }, 'note://one'],
  ['tools/list', {}, undefined],
  ['nothing/here', {}, undefined],
);

test('what is taken for perfect is so for the official SDK too', async () => {
  let perfect = 0;
  await fc.assert(
    fc.asyncProperty(named, meta, fc.constantFrom(1, -1, 'a', ''), async ([method, params, name], changes, id) => {
      const _meta = { ...envelope, ...changes };
      const request = { jsonrpc: '2.0', id, method, params: { ...params, _meta } } as JsonRpcRequest;
      const headers = { protocolVersion: MODERN_VERSION, method, name };
      if (!isPerfectModernRequest(request, headers)) return;
      perfect += 1;
      expect(await judgeEra(request, headers)).toBe('modern');
    }),
    { numRuns: 3_000 },
  );
  expect(perfect).toBeGreaterThan(10);
});

test.each([
  ['an envelope alone', {}],
  [
    'capabilities',
    { [metaKeys.clientCapabilities]: { elicitation: { form: {}, url: {} }, roots: { listChanged: true } } },
  ],
  ['a title', { [metaKeys.clientInfo]: { name: 'a', version: '1', title: 'A' } }],
  ['progress and logs', { progressToken: 1, [metaKeys.logLevel]: 'info' }],
])('%s is perfect: clients send it', (_what, changes) => {
  const params = { _meta: { ...envelope, ...changes } };
  expect(isPerfectModernRequest({ jsonrpc: '2.0', id: 1, method: 'tools/list', params })).toBe(true);
});
