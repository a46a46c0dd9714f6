import { describe, it } from 'vitest';
import type { StartSSEOptions } from '../../features/sse/sse.js';
import type { MCPServer, StartHTTPOptions } from '../index.js';

declare const server: MCPServer;
declare const http: Pick<StartHTTPOptions, 'url' | 'httpPath' | 'req' | 'res'>;
declare const sse: Pick<StartSSEOptions, 'url' | 'ssePath' | 'messagePath' | 'req' | 'res'>;

describe('the options of startHTTP and startSSE', () => {
  it('are given next to the request or under options', () => {
    void (() => server.startHTTP({ ...http, serverless: true }));
    void (() => server.startHTTP({ ...http, options: { serverless: true } }));
    void (() => server.startSSE({ ...sse, maxSessions: 1 }));
    // @ts-expect-error unknown option
    void (() => server.startHTTP({ ...http, severless: true }));
    // @ts-expect-error startSSE always has sessions
    void (() => server.startSSE({ ...sse, serverless: true }));
  });
});
