import { errorCodes } from './constants.js';

export interface ProtocolErrorOptions {
  data?: unknown;
  /** HTTP status of the response; unused over stdio. Default 200: the transport worked. */
  httpStatus?: number;
  /** Headers and JSON body of the HTTP response. Default: the JSON-RPC error. */
  response?: { readonly headers: Readonly<Record<string, string>>; readonly body: object };
}

/** An error that is sent as a JSON-RPC error. Never leaves the package as an exception. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: number;
  readonly data: unknown;
  readonly httpStatus: number;
  readonly response: ProtocolErrorOptions['response'];

  constructor(code: number, message: string, options: ProtocolErrorOptions = {}) {
    super(message);
    this.code = code;
    this.data = options.data;
    this.httpStatus = options.httpStatus ?? 200;
    this.response = options.response;
  }
}

export function methodNotFound(method: string, httpStatus = 200): ProtocolError {
  return new ProtocolError(errorCodes.methodNotFound, `Method not found: ${method}`, { httpStatus });
}

export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, message);
}
