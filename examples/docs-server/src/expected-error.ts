/** An error that the user can correct. The program prints it as one line, without a stack trace. */
export class ExpectedError extends Error {
  override readonly name = 'ExpectedError';
}

/** Returns the one-line message of an expected error, an error of Quiver or a file system error. */
export function toLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return `No permission to use ${path ?? 'a file'} (${code}).`;
  if (code === 'ENOTDIR') return `${path ?? 'A path'} is not a folder (${code}).`;
  if (code === 'ENOSPC') return `There is no space left on the disk (${code}).`;
  return error.message.split('\n', 1)[0] ?? error.name;
}
