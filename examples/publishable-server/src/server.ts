#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { z } from 'zod';

const { WEATHER_KEY, WEATHER_URL = 'https://api.weather.example.com' } =
  process.env;
if (!WEATHER_KEY) {
  console.error(
    'weather-mcp-server: WEATHER_KEY is not set. Get a key at https://weather.example.com/keys',
  );
  process.exit(1);
}

const weather = createTool({
  id: 'weather',
  description: 'Current weather of a city',
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.object({ celsius: z.number() }),
  execute: async ({ city }, { abortSignal }) => {
    const url = new URL('/v1/weather', WEATHER_URL);
    url.searchParams.set('city', city);
    const headers = { authorization: `Bearer ${WEATHER_KEY}` };
    const response = await fetch(url, { headers, signal: abortSignal ?? null });
    if (!response.ok)
      throw new Error(
        `The weather service responded with status ${response.status}.`,
      );
    return (await response.json()) as { celsius: number };
  },
});

// The version that npm publishes.
const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

const server = new MCPServer({ name: 'Weather', version, tools: { weather } });
await server.startStdio();
