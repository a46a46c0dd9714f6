import { classifyInboundRequest } from '@modelcontextprotocol/server';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { envelope } from '../../test/clients/wire.ts';
import { classifyEra } from './classify-era.js';
import { errorCodes, metaKeys, MODERN_VERSION } from './constants.js';
import { parseMessage, type JsonRpcRequest } from './json-rpc.js';
import { ProtocolError } from './protocol-error.js';
import type { StandardHeaders } from './classify-era.js';

const empty = fc.constantFrom<unknown>({}, { a: {} }, { a: 5 }, [], 5, 'text', true, null);
const capabilities = fc.oneof(
  fc.dictionary(
    fc.constantFrom('elicitation', 'sampling', 'roots', 'experimental', 'extensions', 'tasks', 'unknown'),
    fc.oneof(empty, fc.dictionary(fc.constantFrom('form', 'url', 'tools', 'context', 'listChanged'), empty)),
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
const version = fc.constantFrom<unknown>(MODERN_VERSION, '2025-11-25', '2027-01-01', 5);
const meta = fc.record(
  {
    [metaKeys.protocolVersion]: version,
    [metaKeys.clientCapabilities]: capabilities,
    [metaKeys.clientInfo]: identity,
    [metaKeys.logLevel]: fc.constantFrom('info', 'loud', 5, null),
    progressToken: fc.constantFrom<unknown>('p', 1, 1.5, null, {}),
    other: empty,
  },
  { requiredKeys: [] },
);
const named = fc.constantFrom<[string, Record<string, unknown>, string | undefined]>(
  ['tools/call', { name: 'echo' }, 'echo'],
  ['tools/call', { name: '' }, ''],
  ['tools/call', { name: 5 }, undefined],
  ['resources/read', { uri: 'note://one' }, 'note://one'],
  ['tools/list', {}, undefined],
  ['initialize', { protocolVersion: '2025-11-25' }, undefined],
  ['notifications/cancelled', {}, undefined],
);
const base = fc.constantFrom<object>(envelope, {});
const headerVersion = fc.constantFrom(MODERN_VERSION, '2025-11-25', '2027-01-01', undefined);
const headerMethod = fc.constantFrom('same', 'other', undefined);

/** `legacy`, `modern`, or the code of the refusal. */
type Outcome = string | number;

function outcome(message: JsonRpcRequest, headers: StandardHeaders): Outcome {
  try {
    return classifyEra(message, headers);
  } catch (error) {
    return error instanceof ProtocolError ? error.code : String(error);
  }
}

/** Outcome of the official SDK, whose classifier leaves versions and the presence of headers to its server. */
function sdkOutcome(message: JsonRpcRequest, { protocolVersion, method, name }: StandardHeaders): Outcome {
  const classified = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(protocolVersion !== undefined && { protocolVersionHeader: protocolVersion }),
    ...(method !== undefined && { mcpMethodHeader: method }),
    ...(name !== undefined && { mcpNameHeader: name }),
  });
  if (classified.kind !== 'modern') return classified.kind === 'reject' ? classified.code : classified.kind;
  if (classified.classification.revision !== MODERN_VERSION) return errorCodes.unsupportedVersion;
  const lacksHeaders = classified.messageKind === 'request' && (protocolVersion === undefined || method === undefined);
  return lacksHeaders ? errorCodes.headerMismatch : 'modern';
}

test('classifies messages as the official SDK does', () => {
  const seen = new Map<Outcome, number>();
  fc.assert(
    fc.property(
      named,
      base,
      meta,
      headerVersion,
      headerMethod,
      fc.constantFrom(1, 'a', undefined),
      ([method, params, name], given, changes, protocolVersion, named, id) => {
        const _meta = { ...given, ...changes };
        const message = { jsonrpc: '2.0', ...(id !== undefined && { id }), method, params: { ...params, _meta } };
        // Messages of a shape that JSON-RPC or the protocol does not allow are refused before they are classified.
        if (parseMessage(message) === undefined || changes['progressToken'] !== undefined) return;
        const methodHeader = named === 'same' ? method : named;
        const headers = { protocolVersion, method: methodHeader, name };
        const ours = outcome(message as unknown as JsonRpcRequest, headers);
        seen.set(ours, (seen.get(ours) ?? 0) + 1);
        expect(ours).toBe(sdkOutcome(message as unknown as JsonRpcRequest, headers));
      },
    ),
    { numRuns: 5_000 },
  );
  expect([...seen.keys()].toSorted()).toEqual([-32020, -32022, -32602, 'legacy', 'modern'].toSorted());
});

test.each([
  ['an envelope alone', {}],
  [
    'capabilities',
    { [metaKeys.clientCapabilities]: { elicitation: { form: {}, url: {} }, roots: { listChanged: true } } },
  ],
  ['a title', { [metaKeys.clientInfo]: { name: 'a', version: '1', title: 'A' } }],
  ['progress and logs', { progressToken: 1, [metaKeys.logLevel]: 'info' }],
])('accepts a modern request with %s', (_what, changes) => {
  const params = { _meta: { ...envelope, ...changes } };
  expect(classifyEra({ jsonrpc: '2.0', id: 1, method: 'tools/list', params })).toBe('modern');
});

test('names the member of an envelope that is invalid', () => {
  const params = { _meta: { ...envelope, [metaKeys.clientCapabilities]: { sampling: { tools: 5 } } } };
  expect(() => classifyEra({ jsonrpc: '2.0', id: 1, method: 'tools/list', params })).toThrow(
    `${metaKeys.clientCapabilities}.sampling.tools: expected an object`,
  );
});
