import { QuiverError } from '@quiver/core';

/** @param path - where in the filter, for example `$and[1].price.$gt`; empty for the root */
export function filterError(path: string, message: string, cause?: unknown): QuiverError {
  const where = path === '' ? 'the filter' : `the filter at ${path}`;
  return new QuiverError('FILTER_INVALID', `${message.replace(/\.$/, '')} (in ${where}).`, {
    cause,
    details: { path },
  });
}
