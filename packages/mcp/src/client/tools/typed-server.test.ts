import { createTool } from '@quiver/core/tools';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../server/mcp-server.js';
import { clientOf } from '../../../test/clients/client-of.ts';
import { getToolResult, RemoteToolError, type MCPClient } from '../index.js';

interface Weather {
  forecast: { input: { city: string; days?: number }; output: { celsius: number } };
  text: { input: { [key: string]: unknown }; output: unknown };
  constructor: { input: { [key: string]: unknown }; output: unknown };
}

function startClient(): MCPClient {
  const forecast = createTool({
    id: 'forecast',
    description: 'Forecast',
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.object({ celsius: z.number() }),
    execute: async ({ city }) => {
      if (city === 'Atlantis') throw new Error('There is no such city.');
      return { celsius: city.length };
    },
  });
  const text = createTool({ id: 'text', description: 'Text', execute: async () => 'sunny' });
  const server = new MCPServer({ name: 'weather', version: '1', tools: { forecast, text, constructor: text } });
  onTestFinished(() => server.close());
  return clientOf({ weather: server });
}

test('a method returns the structured content of its tool, which leads to the whole result', async () => {
  const weather = startClient().server<Weather>('weather');
  const output = await weather.forecast({ city: 'Oslo' });
  expect(output).toEqual({ celsius: 4 });
  expect(getToolResult(output)?.content).toEqual([{ type: 'text', text: '{"celsius":4}' }]);
});

test('a method returns the whole result of a tool without structured content', async () => {
  const weather = startClient().server<Weather>('weather');
  expect(await weather.text()).toMatchObject({ content: [{ type: 'text', text: 'sunny' }] });
  expect(await weather.constructor({})).toMatchObject({ content: [{ type: 'text', text: 'sunny' }] });
});

test('a method throws error results as remote tools do', async () => {
  const weather = startClient().server<Weather>('weather');
  const error: unknown = await weather.forecast({ city: 'Atlantis' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RemoteToolError);
  expect(error).toMatchObject({ code: 'MCP_TOOL_ERROR', serverName: 'weather', toolName: 'forecast' });
});

test('a method passes the options of a call on, and rejects others', async () => {
  const weather = startClient().server<Weather>('weather');
  const reason = new Error('not needed');
  await expect(weather.forecast({ city: 'Oslo' }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await expect(weather.text({}, { timeOut: 1 } as never)).rejects.toThrow("mcp.callTool has no option 'timeOut'");
});

test('a server that is not configured is reported before a call', () => {
  expect(() => startClient().server('other')).toThrow(expect.objectContaining({ code: 'MCP_SERVER_UNKNOWN' }));
});

test('a view that is awaited, printed or converted calls no tool', async () => {
  const weather = startClient().server<Weather>('weather');
  expect(await Promise.resolve(weather)).toBe(weather);
  expect(JSON.stringify({ weather })).toBe('{"weather":{}}');
  expect(() => `${weather as unknown as string}`).toThrow(TypeError);
});

test('a view of a caller sends the request context of the caller', async () => {
  const { RequestContext } = await import('@quiver/core/request-context');
  const weather = startClient().forRequest(new RequestContext()).server<Weather>('weather');
  expect(await weather.forecast({ city: 'Bergen' })).toEqual({ celsius: 6 });
});
