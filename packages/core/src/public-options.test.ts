import { describe, expect, it } from 'vitest';
import { readPublicFunctions } from '../../../scripts/public-functions.js';
import { acquireFileLock, withFileLock } from './file-lock.js';
import { Agent, askAgent, runWorkflow } from './agent/index.js';
import { createTool as createToolV0 } from './compat/index.js';
import { createLogger, isQuiverError } from './index.js';
import { ModelRouterEmbeddingModel, resolveLanguageModel } from './llm/index.js';
import { instrument } from './otel/instrument.js';
import { validateJsonSchema } from './schema/index.js';
import { createTool, executeTool, Tool } from './tools/index.js';
import { createToolIndex, searchTools, withToolSearch } from './tool-search/index.js';

// Programs in JavaScript pass it.
const unknownOption = { unknownOption: 1 };
const unknown = unknownOption as never;
const tool = { id: 't', description: 'x', execute: async () => 1 };
const agent = { generate: async () => ({ text: '' }) };

/** A call of each public function with an option that it does not have. */
const calls: Record<string, () => unknown> = {
  createLogger: () => createLogger(unknown),
  Tool: () => new Tool({ ...tool, ...unknownOption }),
  createTool: () => createTool({ ...tool, ...unknownOption }),
  'compat createTool': () => createToolV0({ ...tool, ...unknownOption }),
  executeTool: () => executeTool(tool, {}, unknown),
  validateJsonSchema: () => validateJsonSchema({}, 1, unknown),
  ModelRouterEmbeddingModel: () => new ModelRouterEmbeddingModel('openai/x', unknown),
  resolveLanguageModel: () => resolveLanguageModel('openai/x', unknown),
  Agent: () => new Agent({ id: 'a', ...unknownOption }),
  askAgent: () => askAgent(agent, 'Hi', unknown),
  runWorkflow: () => runWorkflow({}, {}, unknown),
  acquireFileLock: () => acquireFileLock('lock', unknown),
  withFileLock: () => withFileLock('lock', async () => {}, unknown),
  instrument: () => instrument(unknown),
  createToolIndex: () => createToolIndex({}, unknown),
  searchTools: () => searchTools({}, unknown),
  withToolSearch: () => withToolSearch({}, unknown),
};

const none = 'takes no options';
const passedOn = 'passes its options on to generateText or streamText of the AI SDK';

/** Functions whose calls accept any option, each with the reason. */
const exempt: Record<string, string> = {
  QuiverError: 'an error must not be replaced by another one',
  escapeForLog: none,
  getDefaultLogger: none,
  isQuiverError: none,
  observe: none,
  setDefaultLogger: none,
  toErrorMessage: none,
  untilAborted: none,
  withinTime: none,
  getToolId: none,
  describeFound: none,
  requireFound: none,
  isToolFailure: none,
  isVercelTool: none,
  toModelOutput: none,
  toolTokens: none,
  describeResults: none,
  readInnerCall: none,
  withInputSchema: none,
  withRequestContext: none,
  RequestContext: none,
  toJsonSchema: none,
  toModelSchema: none,
  validate: none,
  'Agent.generate': passedOn,
  'Agent.stream': passedOn,
  'ModelRouterEmbeddingModel.doEmbed': 'receives a call of the AI SDK',
  'compat acceptV0Calls': none,
};

describe('options of the public functions', () => {
  it('are checked by each function, or the function is listed as exempt', async () => {
    const functions = await readPublicFunctions('@quiver/core', (entry) => import(entry));
    // The methods of an exempt class are exempt.
    const isListed = (name: string): boolean => name in calls || name in exempt || name.replace(/\..*/, '') in exempt;
    const missing = functions.filter((name) => !isListed(name));
    const removed = Object.keys(exempt).filter((name) => !functions.includes(name));
    expect({ missing, removed }).toEqual({ missing: [], removed: [] });
  });

  it.each(Object.entries(calls))('of %s are rejected if they are unknown', async (_name, call) => {
    const error: unknown = await (async () => call())().catch((thrown: unknown) => thrown);
    expect(isQuiverError(error) && error.message).toMatch(/ has no option 'unknownOption'\. Its options are: \w+/);
  });
});
