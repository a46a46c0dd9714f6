import { errorCodes } from './constants.js';

export interface ProtocolErrorOptions {
  data?: unknown;
  /** HTTP status of the response; unused over stdio. Default 200: the transport worked. */
  httpStatus?: number;
  headers?: Readonly<Record<string, string>>;
  /** JSON body of the HTTP response. Default: the JSON-RPC error. */
  body?: object;
}

/** An error that is sent as a JSON-RPC error. Never leaves the package as an exception. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: number;
  readonly data: unknown;
  readonly httpStatus: number;
  readonly headers: ProtocolErrorOptions['headers'];
  readonly body: ProtocolErrorOptions['body'];

  constructor(code: number, message: string, options: ProtocolErrorOptions = {}) {
    super(message);
    this.code = code;
    this.data = options.data;
    this.httpStatus = options.httpStatus ?? 200;
    this.headers = options.headers;
    this.body = options.body;
  }
}

export function methodNotFound(method: string, httpStatus = 200): ProtocolError {
  return new ProtocolError(errorCodes.methodNotFound, `Method not found: ${method}`, { httpStatus });
}

export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, message);
}

/** Returns the error of a refused HTTP request; the status says why. */
export function refused(
  httpStatus: number,
  message: string,
  options?: Pick<ProtocolErrorOptions, 'data' | 'headers' | 'body'>,
): ProtocolError {
  return new ProtocolError(errorCodes.refused, message, { ...options, httpStatus });
}

export function invalidRequest(message: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidRequest, `Invalid Request: ${message}`, { httpStatus: 400 });
}
