import { RequestContext } from '@quiver/core/request-context';
import type { ToolCallOptions } from '@quiver/core/tools';

interface QueryTool<Output> {
  // oxlint-disable-next-line typescript/no-explicit-any -- the inputs of the tools differ
  readonly execute: (input: any, options: ToolCallOptions & { onFailure: 'throw' }) => Promise<Output>;
}

/** Calls a query tool with a question or a whole input. @throws what the tool would return as a failure */
export const callTool = <Output>(
  tool: QueryTool<Output>,
  input: string | object,
  options: ToolCallOptions = {},
): Promise<Output> =>
  tool.execute(typeof input === 'string' ? { queryText: input } : input, { ...options, onFailure: 'throw' });

/** Ids of the passages that a query tool finds. */
export const idsFoundBy = async (
  tool: QueryTool<{ sources: readonly { id: string }[] }>,
  input: string | object,
  options?: ToolCallOptions,
): Promise<string[]> => (await callTool(tool, input, options)).sources.map(({ id }) => id);

/** Options of a call whose request context has these values. */
export const inContext = (values: object): ToolCallOptions => ({
  requestContext: new RequestContext(Object.entries(values)),
});
