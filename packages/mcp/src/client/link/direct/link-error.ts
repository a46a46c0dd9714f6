/** An error with a code of the SDK, which does not have to be loaded for it. */
export function linkError(code: 'REQUEST_TIMEOUT' | 'CONNECTION_CLOSED', message: string): Error {
  return Object.assign(new Error(message), { code });
}
