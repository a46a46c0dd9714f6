import { expect } from 'vitest';

/** Matches an error with this code, whose message contains the text. */
export function errorOf(code: string, text = ''): Error {
  return expect.objectContaining({ code, message: expect.stringContaining(text) }) as Error;
}
