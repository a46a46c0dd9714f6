import { Result } from '../../content.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import type { Extent } from '../../result-limit/cut-texts.js';
import type { SizeLimit } from '../../result-limit/size-limit.js';
import { readPart, type StoredResult } from '../tools/result-record.js';

/** Key of the extent of a cut result in `_meta`. */
export const truncatedKey = 'quiver/truncated';

/** The part of a stored result that a URI names. */
export interface ResultPlace {
  readonly uri: string;
  readonly id: string;
  /** First character or element of the part. */
  readonly offset: number;
}

const uriPattern = /^quiver-result:\/\/([0-9a-f]{32})(?:\?offset=(\d{1,12}))?$/;

/** Returns the URI of a stored result, or of its part behind an offset. */
export function resultUri(id: string, offset?: number): string {
  return `quiver-result://${id}${offset === undefined ? '' : `?offset=${offset}`}`;
}

/** Parses the URI of a stored result; `undefined` for another one. */
export function parseResultUri(uri: string): ResultPlace | undefined {
  const [, id, offset = '0'] = uriPattern.exec(uri) ?? [];
  return id === undefined ? undefined : { uri, id, offset: Number(offset) };
}

/**
 * Answers the reading of a part, within a limit; of a file as a whole.
 *
 * @throws ProtocolError -32602 for an offset behind the end
 */
export function encodePart({ uri, id, offset }: ResultPlace, stored: StoredResult, limit: SizeLimit): Result {
  const { unit, total, mimeType: fileType, body } = stored;
  if (fileType !== undefined) {
    const contents = [{ uri, mimeType: fileType, blob: body }];
    return new Result(`"contents":${JSON.stringify(contents)}`, { isPrivate: true });
  }
  if (offset >= total) throw invalidParams(`The offset ${offset} is behind the end of the result, ${total}.`);
  const { text, next } = readPart(stored, offset, limit);
  const following = resultUri(id, next);
  const extent: Extent & { uri?: string } = {
    unit,
    total,
    next,
    ...(next < total && { uri: following }),
  };
  const mimeType = unit === 'characters' ? 'text/plain' : 'application/json';
  const note = {
    uri: following,
    mimeType: 'text/plain',
    text: `${offset} to ${next} of ${total} ${unit}. The next part is ${following}`,
  };
  const contents = [{ uri, mimeType, text, _meta: { [truncatedKey]: extent } }, ...(next < total ? [note] : [])];
  return new Result(`"contents":${JSON.stringify(contents)}`, { isPrivate: true });
}
