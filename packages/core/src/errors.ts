const brand: unique symbol = Symbol.for('quiver.error') as never;

/** Options of {@link QuiverError}. */
export interface QuiverErrorOptions {
  /** The error that caused this one. */
  cause?: unknown;
  /** Data for programs: names, limits, numbers. Never a secret. */
  details?: Record<string, unknown> | undefined;
}

/**
 * Base class of all errors of Quiver.
 *
 * `code` is stable and meant for programs. `message` describes what failed, with which value, and what to do.
 */
export class QuiverError extends Error {
  override readonly name: string = 'QuiverError';
  /** Stable identifier in capitals, for example `SCHEMA_NOT_REPRESENTABLE`. */
  readonly code: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: string, message: string, options: QuiverErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
    Object.defineProperty(this, brand, { value: true });
  }
}

/**
 * Returns whether a value is a {@link QuiverError}, also of another copy of this package.
 *
 * @param code - when given, the error must carry this code
 * @example
 * if (isQuiverError(error, 'TOOL_NOT_EXECUTABLE')) showToUser(error.message);
 */
export function isQuiverError(value: unknown, code?: string): value is QuiverError {
  if (!(value instanceof Error) || (value as Partial<Record<typeof brand, boolean>>)[brand] !== true) return false;
  return code === undefined || (value as QuiverError).code === code;
}

/** Returns the message of a thrown value of any type. */
export function toErrorMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === 'object' && thrown !== null) {
    const { message } = thrown as { message?: unknown };
    if (typeof message === 'string' && message !== '') return message;
    try {
      return JSON.stringify(thrown) ?? 'unknown error';
    } catch {
      return 'unknown error';
    }
  }
  return String(thrown);
}
