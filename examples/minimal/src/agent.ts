import { openai } from '@ai-sdk/openai';
import { MCPClient } from '@quiver/mcp';
import { generateText, stepCountIs } from 'ai';

const mcp = new MCPClient({
  servers: { weather: { url: 'http://127.0.0.1:3000/mcp' } },
});
const { text } = await generateText({
  model: openai('gpt-5.1'), // any provider of the AI SDK
  tools: await mcp.listTools(), // { weather_weather: … }
  stopWhen: stepCountIs(3),
  prompt: 'Do I need a coat in Oslo?',
});
console.log(text);
await mcp.disconnect();
