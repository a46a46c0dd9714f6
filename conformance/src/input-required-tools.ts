import { createTool, type ElicitRequest, type ElicitResult, type ToolMcpContext } from '@quiver/core/tools';
import type { ToolsInput } from '@quiver/mcp/server';

/** Schema of a form with one required field. */
export const formOf = (name: string, type = 'string'): ElicitRequest['requestedSchema'] => ({
  type: 'object',
  properties: { [name]: { type } },
  required: [name],
});

const prefix = 'test_input_required_result_';

const asking = (suffix: string, ask: (mcp: ToolMcpContext) => Promise<string>): [string, ToolsInput[string]] => [
  `${prefix}${suffix}`,
  createTool({
    id: `${prefix}${suffix}`,
    description: 'Needs input before it completes',
    execute: (_input, { mcp }) => ask(mcp),
  }),
];

const askName = (mcp: ToolMcpContext): Promise<ElicitResult> =>
  mcp.elicitation.sendRequest({ message: 'What is your name?', requestedSchema: formOf('name') }, { key: 'user_name' });

const confirm = async (mcp: ToolMcpContext): Promise<string> => {
  await mcp.elicitation.sendRequest(
    { message: 'Please confirm', requestedSchema: formOf('ok', 'boolean') },
    { key: 'confirm' },
  );
  return 'state-ok';
};

const sample = async (mcp: ToolMcpContext, text: string, maxTokens: number, key: string): Promise<string> => {
  const answer = await mcp.sample(
    { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens },
    { key },
  );
  return answer.text;
};

const listRoots = async (mcp: ToolMcpContext): Promise<string> => {
  const roots = await mcp.roots({ key: 'client_roots' });
  return roots.map(({ uri, name }) => `${name ?? 'root'} at ${uri}`).join(', ');
};

/** Tools that return `input_required` results, for the scenarios of protocol version 2026-07-28. */
export const inputRequiredTools: ToolsInput = Object.fromEntries([
  asking('elicitation', async (mcp) => `Hello, ${(await askName(mcp)).content?.name}!`),
  asking('sampling', (mcp) => sample(mcp, 'What is the capital of France?', 100, 'capital_question')),
  asking('list_roots', async (mcp) => `Roots: ${await listRoots(mcp)}`),
  asking('request_state', confirm),
  asking('tampered_state', confirm),
  asking('multiple_inputs', async (mcp) => {
    const [name, greeting, roots] = await Promise.all([
      askName(mcp),
      sample(mcp, 'Generate a greeting', 50, 'greeting'),
      listRoots(mcp),
    ]);
    return `${greeting} ${name.content?.name} (${roots})`;
  }),
  asking('multi_round', async (mcp) => {
    const name = await mcp.elicitation.sendRequest(
      { message: 'Step 1: What is your name?', requestedSchema: formOf('name') },
      { key: 'step1' },
    );
    const color = await mcp.elicitation.sendRequest(
      { message: 'Step 2: What is your favorite color?', requestedSchema: formOf('color') },
      { key: 'step2' },
    );
    return `${name.content?.name} likes ${color.content?.color}`;
  }),
  asking('capabilities', async (mcp) => {
    const { elicitation, sampling, roots } = mcp.clientCapabilities ?? {};
    await Promise.all([
      elicitation && askName(mcp),
      sampling && sample(mcp, 'Generate a greeting', 50, 'greeting'),
      roots && listRoots(mcp),
    ]);
    return 'Asked what the client can answer.';
  }),
  [
    'test_missing_capability',
    createTool({
      id: 'test_missing_capability',
      description: "Needs the client's model",
      execute: (_input, { mcp }) => sample(mcp, 'Hello', 10, 'hello'),
    }),
  ],
  [
    'test_streaming_elicitation',
    createTool({
      id: 'test_streaming_elicitation',
      description: 'Completes without asking',
      execute: async () => 'Completed without asking.',
    }),
  ],
]);
