import { openai } from '@ai-sdk/openai';
import { MCPClient } from '@quiver/mcp/client';
import { generateText, stepCountIs } from 'ai';

const url = process.argv[2] ?? 'http://127.0.0.1:3000/mcp';
const mcp = new MCPClient({ servers: { weather: { url } } });

const { text } = await generateText({
  model: openai('gpt-5.1'),
  tools: await mcp.listTools(), // { weather_weather: … }
  stopWhen: stepCountIs(3),
  prompt: 'Do I need a coat in Oslo?',
});
console.log(text);
await mcp.disconnect();
