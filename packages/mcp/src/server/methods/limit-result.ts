import { Result } from '../../content.js';
import { RESOURCE_LINK_VERSION } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import { cutTexts, describeCut, type CutTexts, type Extent } from '../../result-limit/cut-texts.js';
import { describeFile, fitFiles, type FileBlock } from '../../result-limit/fit-files.js';
import type { SizeLimit } from '../../result-limit/size-limit.js';
import { RESULT_LIFETIME } from '../limits.js';
import type { ServerRequest } from '../request.js';
import type { WholeValue } from '../tools/result-record.js';
import { resultUri, truncatedKey } from './result-resource.js';
import type { RegisteredTool } from '../tools/tool-registry.js';

type Block = Record<string, unknown>;

/**
 * Cuts a tool's result that is longer than its limit. The text ends with a sentence that says what is missing, and the caller can read
 * the rest as a resource. Images, audio and files over the limit are left out, and can be read as resources. Structured content is
 * complete: programs that read it would take a part for the whole.
 *
 * @see [MCP, tool results](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result)
 */
export async function limitResult(
  request: ServerRequest,
  registered: RegisteredTool,
  encoded: Result,
  limit: SizeLimit,
): Promise<Result> {
  const { length } = encoded.members;
  if (length <= limit.fileCharacters && limit.lengthWithin(encoded.members) === length) return encoded;
  // The encoded result has neither getters nor `toJSON`.
  const { content, ...others } = JSON.parse(`{${encoded.members}}`) as { content: Block[] };
  const files = content.map(fileOf);
  const { isLeftOut, textLimit } = fitFiles(files, limit);
  const texts = content.map(textOf);
  const cut = cutTexts(
    texts.filter((text) => text !== undefined),
    textLimit,
  );
  const leftOut = isLeftOut.filter(Boolean).length;
  if (!cut && leftOut === 0) return encoded;
  const keep = async (whole: WholeValue, offset?: number): Promise<string | undefined> => {
    const id = await request.server.results?.keep({ principal: request.principal ?? '', tool: registered.name, whole });
    return id && resultUri(id, offset);
  };
  const rest = cut && (await keep(cut.whole, cut.next));
  const shown = cut ? showTexts(content, cut) : content.map((block) => [block]);
  for (const [index, file] of files.entries())
    if (file && isLeftOut[index]) shown[index] = describeLeftOut(request, file, await keep(file));
  const result = {
    content: [...shown.flat(), ...(cut ? describe(request, cut, rest) : [])],
    ...others,
  };
  const mark = {
    ...(cut && { unit: cut.unit, total: cut.total, next: cut.next }),
    ...(rest && { uri: rest }),
    ...(leftOut > 0 && { files: leftOut }),
  };
  const meta = { ...encoded.meta, [truncatedKey]: mark };
  return new Result(JSON.stringify(result).slice(1, -1), { meta, isError: encoded.isError });
}

/** Returns the text that a block contains: its own, or that of an embedded resource. Images and links have none. */
function textOf({ text, resource }: Block): string | undefined {
  const found = isObject(resource) ? resource['text'] : text;
  return typeof found === 'string' ? found : undefined;
}

/** Returns the image, audio or binary resource that a block contains. */
function fileOf({ data, mimeType, resource }: Block): FileBlock | undefined {
  const [content, type] = isObject(resource) ? [resource['blob'], resource['mimeType']] : [data, mimeType];
  if (typeof content !== 'string') return undefined;
  return { data: content, mimeType: typeof type === 'string' ? type : 'application/octet-stream' };
}

/** Returns, for each block, what remains of it. */
function showTexts(content: readonly Block[], { texts }: CutTexts): Block[][] {
  let place = 0;
  return content.map((block) => {
    if (textOf(block) === undefined) return [block];
    const text = texts[place];
    place += 1;
    if (text === undefined) return [];
    return [isObject(block['resource']) ? { ...block, resource: { ...block['resource'], text } } : { ...block, text }];
  });
}

/** Returns the blocks behind a cut text: what is missing, and where it is. */
function describe(request: ServerRequest, extent: Extent, uri: string | undefined): Block[] {
  const mimeType = extent.unit === 'elements' ? 'application/json' : 'text/plain';
  return withLink(request, describeCut(extent), 'the next part', uri && { uri, name: 'Rest of the result', mimeType });
}

/** Returns the blocks in place of a file: what is missing, and where it is. */
function describeLeftOut(request: ServerRequest, file: FileBlock, uri: string | undefined): Block[] {
  const { mimeType } = file;
  return withLink(request, describeFile(file), 'it', uri && { uri, name: 'Left out file', mimeType });
}

function withLink(
  { protocolVersion }: ServerRequest,
  missing: string,
  what: string,
  link: { readonly uri: string; readonly name: string; readonly mimeType: string } | undefined | '',
): Block[] {
  const minutes = RESULT_LIFETIME / 60_000;
  const where = link
    ? `Read the resource ${link.uri} within ${minutes} minutes for ${what}, or call the tool with arguments that return less.`
    : 'Call the tool with arguments that return less.';
  const note = { type: 'text', text: `${missing} ${where}` };
  if (!link || protocolVersion < RESOURCE_LINK_VERSION) return [note];
  return [note, { type: 'resource_link', ...link, description: note.text }];
}
