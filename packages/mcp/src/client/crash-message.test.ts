import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { MCPClient } from './index.js';

describe('the message of a program that crashed', () => {
  const connect = async (script: string): Promise<{ message: string; stderr: string | undefined }> => {
    const mcp = new MCPClient({ servers: { it: { command: process.execPath, args: ['-e', script] } } });
    try {
      const { errors } = await mcp.listToolsWithErrors();
      return { message: errors['it'] ?? '', stderr: mcp.getServerStderr('it') };
    } finally {
      await mcp.disconnect();
    }
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

  test('quotes the end of an output that names no error', async () => {
    const { message } = await connect(`process.stderr.write('x'.repeat(600) + ' no license', () => process.exit(3))`);
    expect(message).toMatch(/It wrote: x{489} no license\.$/);
  });
});
