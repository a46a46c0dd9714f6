import { expect, test } from 'vitest';
import { rootsRequest } from './client-requests.js';
import { PendingRequests } from './pending-requests.js';

test('sends nothing for a request whose signal has fired before', async () => {
  const sent: object[] = [];
  const link = { send: (message: object) => sent.push(message) > 0 };
  const signal = AbortSignal.abort(new Error('no longer needed'));
  await expect(new PendingRequests().send('server-1', rootsRequest(), { signal }, link)).rejects.toThrow('no longer');
  expect(sent).toEqual([]);
});
