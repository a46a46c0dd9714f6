import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { clientOf } from '../../test/clients/client-of.ts';

describe('the message of a program that crashed', () => {
  const connect = async (script: string): Promise<{ message: string; stderr: string | undefined }> => {
    const mcp = clientOf({ it: { command: process.execPath, args: ['-e', script] } });
    const { errors } = await mcp.listToolsWithErrors();
    return { message: errors['it'] ?? '', stderr: mcp.getServerStderr('it') };
  };

  test('names the first error in one line, and the rest is in getServerStderr()', async () => {
    const { message, stderr } = await connect(`require('not-there')`);
    expect(message).toBe(
      `Could not connect to MCP server 'it' (${process.execPath}): its process exited with code 1. It wrote: Error: Cannot find module 'not-there'.`,
    );
    expect(stderr).toMatch(/Error: Cannot find module 'not-there'[^]*code: 'MODULE_NOT_FOUND'/);
  });

  test('finds the error before a long output', async () => {
    const { message, stderr } = await connect(
      `process.stderr.write('app.ConfigError: no key\\n' + 'line\\n'.repeat(50000) + 'bye', () => process.exit(2))`,
    );
    expect(message).toMatch(/exited with code 2\. It wrote: app\.ConfigError: no key\.$/);
    expect(stderr).toMatch(/^app\.ConfigError: no key\n[^]*\n…\n[^]*bye$/);
  });

  test.each([
    ['a thrown error', `throw new Error('KEY is not set')`, 'Error: KEY is not set'],
    ['a thrown text', `throw 'no key'`, 'no key'],
    ['a rejection', `Promise.reject(new TypeError('no key'))`, 'TypeError: no key'],
    ['a syntax error', `const key = ;`, `SyntaxError: Unexpected token ';'`],
    [
      'an error and its cause',
      `throw new Error('Cannot start', { cause: new Error('connect ECONNREFUSED 127.0.0.1:5432') })`,
      'Error: Cannot start | Error: connect ECONNREFUSED 127.0.0.1:5432',
    ],
    [
      'an error that did not end it, and the one that did',
      `console.error(new Error('The cache is corrupt')); throw new Error('KEY is not set')`,
      'Error: The cache is corrupt | Error: KEY is not set',
    ],
    [
      'a logged error with a label',
      `console.error('Fatal error in main():', new Error('KEY is not set')); process.exit(1)`,
      'Fatal error in main(): Error: KEY is not set',
    ],
    [
      'a usage text on standard output',
      `console.log('Usage: weather <city>\\n\\nOptions:\\n  --units  si or us'); process.exit(1)`,
      'Usage: weather <city> | Options: --units  si or us',
    ],
  ])('is one line about %s', async (_what, script, expected) => {
    const { message } = await connect(script);
    expect(message).toMatch(/: its process exited with code 1\. It wrote: /);
    expect(message.replace(/^.* It wrote: /, '')).toBe(`${expected}.`);
  });

  test('says only how a silent program ended', async () => {
    expect((await connect(`process.exit(0)`)).message).toMatch(/: its process exited with code 0\.$/);
  });

  test('quotes what a program that does not respond wrote', async () => {
    const args = ['-e', `console.error('Ok to proceed? (y)'); setInterval(() => {}, 1000)`];
    const mcp = clientOf({ it: { command: process.execPath, args, connectTimeout: 2000 } });
    const { errors } = await mcp.listToolsWithErrors();
    expect(errors['it']).toMatch(
      /no response within 2000 ms; raise `connectTimeout` if it needs longer\. It wrote: Ok to proceed\? \(y\)\.$/,
    );
  });

  test('quotes the beginning and the end of a long output that names no error', async () => {
    const { message } = await connect(`process.stderr.write('x'.repeat(600) + ' no license', () => process.exit(3))`);
    expect(message).toMatch(/It wrote: x{250} … x{239} no license\.$/);
  });
});
