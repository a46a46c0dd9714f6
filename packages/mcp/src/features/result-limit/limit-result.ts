import { Result } from '../../content.js';
import { isObject } from '../../protocol/json-rpc.js';
import {
  cutTexts,
  describeCut,
  describeFile,
  fitFiles,
  type CutTexts,
  type FileBlock,
} from '../../result-limit/cut-texts.js';
import { type SizeLimit, parseResultLimit } from '../../result-limit/size-limit.js';
import type { ResultLimit } from '@quiver/core/tools';
import type { CallExtension, RegisteredTool } from '../../server/call-extension.js';
import type { Feature } from '../../server/feature.js';

/** Key of the extent of a cut result in `_meta`. */
const truncatedKey = 'quiver/truncated';

type Block = Record<string, unknown>;

/**
 * Cuts a tool's result that is longer than its limit. The text ends with a sentence that says what is missing. Images, audio and files over
 * the limit are left out. Structured content is complete: programs that read it would take a part for the whole.
 *
 * @see [MCP, tool results](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result)
 */
function limitResult(encoded: Result, limit: SizeLimit): Result {
  const { json } = encoded;
  if (json.length <= limit.fileCharacters && limit.lengthWithin(json) === json.length) return encoded;
  // The cast: results of tools have content.
  const { content, ...others } = JSON.parse(json) as { content: Block[] };
  const files = content.map(fileOf);
  const { isLeftOut, textLimit } = fitFiles(files, limit);
  const texts = content.map(textOf);
  const cut = cutTexts(
    texts.filter((text) => text !== undefined),
    textLimit,
  );
  const leftOut = isLeftOut.filter(Boolean).length;
  if (!cut && leftOut === 0) return encoded;
  const shown = cut ? showTexts(content, cut) : content.map((block) => [block]);
  for (const [index, file] of files.entries())
    if (file && isLeftOut[index]) shown[index] = [{ type: 'text', text: describeFile(file) }];
  const result = {
    content: [...shown.flat(), ...(cut ? [{ type: 'text', text: describeCut(cut) }] : [])],
    ...others,
  };
  const mark = {
    ...(cut && { unit: cut.unit, total: cut.total, next: cut.next }),
    ...(leftOut > 0 && { files: leftOut }),
  };
  const meta = { ...encoded.meta, [truncatedKey]: mark };
  return Result.of(result, { meta, isError: encoded.isError });
}

/** Returns the text that a block contains: its own, or that of an embedded resource. Images and links have none. */
function textOf({ text, resource }: Block): string | undefined {
  const found = isObject(resource) ? resource['text'] : text;
  return typeof found === 'string' ? found : undefined;
}

function fileOf({ data, mimeType, resource }: Block): FileBlock | undefined {
  const [content, type] = isObject(resource) ? [resource['blob'], resource['mimeType']] : [data, mimeType];
  if (typeof content !== 'string') return undefined;
  return { data: content, mimeType: typeof type === 'string' ? type : 'application/octet-stream' };
}

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

/** Limits of the results of tools: `resultLimit` of the server, or that of a tool, which replaces it. */
export class ResultLimits implements Feature, CallExtension {
  readonly call: CallExtension = this;
  readonly #ofServer: SizeLimit | undefined;
  readonly #limits = new WeakMap<RegisteredTool, SizeLimit>();

  /** @throws `OPTIONS_INVALID` */
  constructor(limit: ResultLimit | undefined) {
    this.#ofServer = limit === undefined ? undefined : parseResultLimit(limit);
  }

  /** @throws `OPTIONS_INVALID` */
  register(registered: RegisteredTool): boolean {
    const own = registered.tool.mcp?.resultLimit;
    const limit = own === undefined ? this.#ofServer : own && parseResultLimit(own);
    if (limit) this.#limits.set(registered, limit);
    return Boolean(limit);
  }

  run(_request: object, registered: RegisteredTool, run: () => Promise<Result>): Promise<Result> {
    const limit = this.#limits.get(registered);
    return limit ? run().then((result) => limitResult(result, limit)) : run();
  }
}
