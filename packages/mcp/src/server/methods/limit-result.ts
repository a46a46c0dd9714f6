import { validate, type Schema } from '@quiver/core/schema';
import type { EncodedResult } from '../../content.js';
import { isObject } from '../../protocol/json-rpc.js';
import { cutLongestArray } from '../../result-limit/cut-json.js';
import { cutTexts, describeCut, type CutTexts, type Extent } from '../../result-limit/cut-texts.js';
import type { SizeLimit } from '../../result-limit/size-limit.js';
import { RESULT_LIFETIME } from '../limits.js';
import type { ServerRequest } from '../request.js';
import { truncatedKey } from '../result-store.js';
import type { RegisteredTool } from '../tool-registry.js';

type Block = Record<string, unknown>;

/**
 * Cuts a tool's result that is longer than its limit. The text ends with a sentence that says what is missing, and the caller can read
 * the rest as a resource. Structured content is cut only where it still matches the output schema; otherwise it is complete.
 *
 * @see [MCP, tool results](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result)
 */
export async function limitResult(
  request: ServerRequest,
  registered: RegisteredTool,
  encoded: EncodedResult,
  limit: SizeLimit,
): Promise<EncodedResult> {
  if (limit.lengthWithin(encoded.members) === encoded.members.length) return encoded;
  // The encoded result has neither getters nor `toJSON`.
  const { content, structuredContent, ...others } = JSON.parse(`{${encoded.members}}`) as {
    content: Block[];
    structuredContent?: unknown;
  };
  const texts = content.map(textOf);
  const cut = cutTexts(
    texts.filter((text) => text !== undefined),
    limit,
  );
  const structured = await cutStructured(structuredContent, registered, limit, cut);
  const extent = cut ?? structured?.extent;
  if (!extent) return encoded;
  const { server, principal = '' } = request;
  const { whole } = extent;
  const uri = await server.results?.keep({ principal, tool: registered.name, whole });
  const { unit, total, next } = extent;
  const rest = uri && `${uri}?offset=${next}`;
  const shown = cut ? showTexts(content, cut) : content;
  const result = {
    content: [...shown, ...describe(request, { unit, total, next }, rest)],
    ...(structuredContent !== undefined && { structuredContent: structured ? structured.value : structuredContent }),
    ...others,
  };
  const mark = {
    unit,
    total,
    next,
    ...(rest && { uri: rest }),
    ...(structuredContent !== undefined && { structuredContent: structured ? 'cut' : 'complete' }),
  };
  return { members: JSON.stringify(result).slice(1, -1), meta: { ...encoded.meta, [truncatedKey]: mark } };
}

/** Returns the text that a block contains: its own, or that of an embedded resource. Images and links have none. */
function textOf({ text, resource }: Block): string | undefined {
  const found = isObject(resource) ? resource['text'] : text;
  return typeof found === 'string' ? found : undefined;
}

/** Returns the blocks with the texts that remain. */
function showTexts(content: readonly Block[], { texts }: CutTexts): Block[] {
  let place = 0;
  return content.flatMap((block) => {
    if (textOf(block) === undefined) return [block];
    const text = texts[place];
    place += 1;
    if (text === undefined) return [];
    return [isObject(block['resource']) ? { ...block, resource: { ...block['resource'], text } } : { ...block, text }];
  });
}

async function cutStructured(
  value: unknown,
  { tool }: RegisteredTool,
  limit: SizeLimit,
  text: CutTexts | undefined,
): Promise<{ value: unknown; extent: Extent & Pick<CutTexts, 'whole'> } | undefined> {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined || limit.lengthWithin(json) === json.length) return undefined;
  const cut = cutLongestArray(value, limit);
  if (!cut) return undefined;
  const { all, shorten } = cut;
  // A result has one rest. The text is nearly always the same data, and then it has the same elements.
  if (text && !isDeepEqual(text.whole, all)) return undefined;
  const extent = text ?? { unit: 'elements' as const, total: all.length, next: cut.next, whole: all };
  const shortened = shorten(extent.next);
  if (tool.outputSchema && !(await validate(tool.outputSchema as Schema, shortened)).ok) return undefined;
  return { value: shortened, extent };
}

function isDeepEqual(first: unknown, second: unknown): boolean {
  return JSON.stringify(first) === JSON.stringify(second);
}

/** First protocol version with `resource_link`. */
const LINK_VERSION = '2025-06-18';

/** Returns the blocks behind a cut text: what is missing, and where it is. */
function describe({ protocolVersion }: ServerRequest, extent: Extent, uri: string | undefined): Block[] {
  const minutes = RESULT_LIFETIME / 60_000;
  const where = uri
    ? `Read the resource ${uri} within ${minutes} minutes for the next part, or call the tool with arguments that return less.`
    : 'Call the tool with arguments that return less.';
  const note = { type: 'text', text: `${describeCut(extent)} ${where}` };
  if (!uri || protocolVersion < LINK_VERSION) return [note];
  const mimeType = extent.unit === 'elements' ? 'application/json' : 'text/plain';
  return [note, { type: 'resource_link', uri, name: 'Rest of the result', description: note.text, mimeType }];
}
