import { QuiverError } from '@quiver/core';
import { validate } from '@quiver/core/schema';
import type {
  ElicitRequest,
  ElicitResult,
  ElicitUrlRequest,
  McpRoot,
  SampleRequest,
  SampleResult,
  SamplingContent,
} from '@quiver/core/tools';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { parsePageUrl } from '../../protocol/page-url.js';
import { methodNotFound } from '../../protocol/protocol-error.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import { digestOf } from '../digest.js';

/** Capabilities that a request needs, for example `{ sampling: { tools: {} } }`. */
export type RequiredCapabilities = Readonly<Record<string, Readonly<Record<string, object>>>>;
export type MissingCapabilities = Record<string, Record<string, object>>;

export function addCapabilities(missing: MissingCapabilities, added: RequiredCapabilities): void {
  for (const [name, members] of Object.entries(added)) missing[name] = { ...missing[name], ...members };
}

/** A request from the server to the client. Each era sends it in its own way. */
export interface ClientRequest<Result> {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: object;
  /** Members that only legacy clients receive. */
  readonly legacyParams?: object;
  readonly requires: RequiredCapabilities;
  /** Prefix of error codes: `ELICITATION` in `ELICITATION_NOT_SUPPORTED`. */
  readonly subject: 'ELICITATION' | 'SAMPLING' | 'ROOTS';
  /** Noun phrase for error messages: the tool requested … */
  readonly what: string;
  /** Returns the checked result, or `undefined` for an invalid one. */
  readonly parse: (result: unknown) => Result | undefined | Promise<Result | undefined>;
}

export function digestOfRequest({ method, params }: ClientRequest<unknown>): Promise<string> {
  return digestOf([method, params]);
}

/**
 * Returns the part of the required capabilities that a client did not declare, or `undefined` when it declared all. An empty
 * `elicitation`, the older form of the declaration, means forms.
 */
export function missingCapabilities(
  required: RequiredCapabilities,
  declared: ClientCapabilities,
): RequiredCapabilities | undefined {
  const missing: Record<string, Record<string, object>> = {};
  for (const [name, members] of Object.entries(required)) {
    const has: unknown = (declared as Record<string, unknown>)[name];
    if (!isObject(has)) missing[name] = { ...members };
    else {
      const impliesForm = name === 'elicitation' && Object.keys(has).length === 0;
      const absent = Object.entries(members).filter(
        ([member]) => has[member] === undefined && !(impliesForm && member === 'form'),
      );
      if (absent.length > 0) missing[name] = Object.fromEntries(absent);
    }
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}

/**
 * Returns the request for user input: a form, or a page that the client opens.
 *
 * @throws `ELICITATION_URL_INVALID`, `ELICITATION_SCHEMA_INVALID`
 * @see [MCP, URL mode elicitation](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests)
 */
export function elicitationRequest(request: ElicitRequest | ElicitUrlRequest): ClientRequest<ElicitResult> {
  const { message } = request;
  if (request.mode === 'url') {
    const { url, elicitationId = crypto.randomUUID() } = request;
    requireSafeUrl(url);
    const params = { mode: 'url', message, url };
    return { ...describeRequest('elicitation/create', params), legacyParams: { elicitationId }, parse: parseAction };
  }
  const { requestedSchema } = request;
  requireFormSchema(requestedSchema);
  return {
    ...describeRequest('elicitation/create', { mode: 'form', message, requestedSchema }),
    parse: async (result) => {
      const parsed = parseAction(result);
      if (parsed?.action !== 'accept') return parsed;
      const content = pickRequested(requestedSchema, (result as { content?: unknown }).content);
      const checked = await validate(requestedSchema, content);
      return checked.ok ? { action: 'accept', content } : undefined;
    },
  };
}

function parseAction(result: unknown): ElicitResult | undefined {
  const action = isObject(result) ? result['action'] : undefined;
  return action === 'accept' || action === 'decline' || action === 'cancel' ? { action } : undefined;
}

/** Returns the members that the schema names. Others, and `__proto__`, never reach a tool. */
function pickRequested({ properties }: ElicitRequest['requestedSchema'], content: unknown = {}): unknown {
  if (!isObject(content) || !isObject(properties)) return content;
  const entries = Object.entries(content).filter(([key]) => key !== '__proto__' && Object.hasOwn(properties, key));
  return Object.fromEntries(entries);
}

/** Users are sent to encrypted pages only, and never with a password in the URL. */
function requireSafeUrl(url: string): void {
  const parsed = parsePageUrl(url);
  if (!parsed || parsed.username !== '' || parsed.password !== '') {
    throw new QuiverError(
      'ELICITATION_URL_INVALID',
      'Cannot send the elicitation request: its URL must be https without a user name (http only for a loopback host).',
    );
  }
}
export function samplingRequest(request: SampleRequest): ClientRequest<SampleResult> {
  return { ...describeRequest('sampling/createMessage', { ...request }), parse: parseSampleResult };
}

function parseSampleResult(result: unknown): SampleResult | undefined {
  if (!isObject(result) || typeof result['model'] !== 'string') return undefined;
  const { role, content, model } = result;
  if (role !== 'user' && role !== 'assistant') return undefined;
  // The cast: checked next.
  const parts = [content].flat() as (Params | null)[];
  if (!parts.every((part) => typeof part?.['type'] === 'string')) return undefined;
  const text = parts.map((part) => (part?.['type'] === 'text' ? String(part['text'] ?? '') : '')).join('');
  return { ...result, role, content: content as SamplingContent | SamplingContent[], model, text };
}

export function rootsRequest(): ClientRequest<McpRoot[]> {
  return {
    ...describeRequest('roots/list'),
    parse: (result) => {
      const roots = isObject(result) ? result['roots'] : undefined;
      return Array.isArray(roots) && roots.every((root) => typeof root?.uri === 'string') ? roots : undefined;
    },
  };
}

/**
 * Returns a request given as method and params. Its result is the client's, unchanged after validation; form content keeps only
 * requested members.
 *
 * @throws `CLIENT_REQUEST_UNKNOWN` for a method that servers do not send
 */
export function rawRequest(request: { method: string; params?: Record<string, unknown> }): ClientRequest<unknown> {
  const { method, params } = request;
  if (!isClientMethod(method)) {
    throw new QuiverError(
      'CLIENT_REQUEST_UNKNOWN',
      `A server cannot send '${method}' to a client; it can send ${Object.keys(requestKinds).join(', ')}.`,
    );
  }
  const typed = requestKinds[method].create(params);
  return {
    ...typed,
    parse: async (result) => {
      const parsed = await typed.parse(result);
      if (parsed === undefined || typed.subject !== 'ELICITATION') return parsed && result;
      const { content: _, ...rest } = result as { content?: unknown };
      return { ...rest, ...(parsed as ElicitResult) };
    },
  };
}

/**
 * Returns a request of another server, which the client receives unchanged. That server checks the result.
 *
 * @throws ProtocolError -32601 for a method that servers do not send
 */
export function passedOnRequest(method: string, params: Params): ClientRequest<Params> {
  if (!isClientMethod(method)) throw methodNotFound(method);
  return { ...describeRequest(method, params), parse: (result) => (isObject(result) ? result : undefined) };
}

type ClientMethod = ClientRequest<unknown>['method'];

/** The requests of one method, those of this server and those that it passes on. */
interface RequestKind {
  readonly subject: ClientRequest<unknown>['subject'];
  readonly what: (params: Params) => string;
  readonly requires: (params: Params) => RequiredCapabilities;
  // oxlint-disable-next-line typescript/no-explicit-any -- the author of the tool is responsible for the params, and the client checks them
  readonly create: (params: any) => ClientRequest<unknown>;
}

const requestKinds: Readonly<Record<ClientMethod, RequestKind>> = {
  'elicitation/create': {
    subject: 'ELICITATION',
    what: ({ mode }) => (mode === 'url' ? 'that the user opens a page' : 'user input'),
    requires: ({ mode }) => ({ elicitation: { [mode === 'url' ? 'url' : 'form']: {} } }),
    create: elicitationRequest,
  },
  'sampling/createMessage': {
    subject: 'SAMPLING',
    what: () => "a completion by the client's model",
    requires: ({ tools, toolChoice }) => ({
      sampling: tools !== undefined || toolChoice !== undefined ? { tools: {} } : {},
    }),
    create: samplingRequest,
  },
  'roots/list': {
    subject: 'ROOTS',
    what: () => "the client's roots",
    requires: () => ({ roots: {} }),
    create: rootsRequest,
  },
};

function isClientMethod(method: string): method is ClientMethod {
  return Object.hasOwn(requestKinds, method);
}

function describeRequest(method: ClientMethod, params?: Params): Omit<ClientRequest<unknown>, 'parse'> {
  const { subject, what, requires } = requestKinds[method];
  const given = params ?? {};
  return { method, ...(params && { params }), subject, what: what(given), requires: requires(given) };
}

const fieldTypes: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);

/**
 * Refuses a requested schema that is not a form: an object of strings, numbers, integers, Booleans, and choices of one or several
 * strings. Clients reject other schemas, each with its own error.
 *
 * @throws `ELICITATION_SCHEMA_INVALID` with the path of the property
 * @see [MCP 2025-11-25, requested schema](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema)
 */
function requireFormSchema(schema: unknown): void {
  if (!isObject(schema) || schema['type'] !== 'object') throw invalid('requestedSchema', schema, "type 'object'");
  const { properties } = schema;
  if (!isObject(properties)) throw invalid('requestedSchema.properties', properties, 'a schema per field');
  for (const [name, field] of Object.entries(properties)) requireField(`requestedSchema.properties.${name}`, field);
}

function requireField(path: string, field: unknown): void {
  const { type, items } = isObject(field) ? field : {};
  if (fieldTypes.has(type)) return;
  const expected = "type 'string', 'number', 'integer' or 'boolean', or 'array' with a choice of strings as items";
  if (type !== 'array') throw invalid(path, field, expected);
  const { type: itemType, enum: values, anyOf } = isObject(items) ? items : {};
  const isChoice = itemType === 'string' && Array.isArray(values);
  const isTitledChoice = Array.isArray(anyOf) && anyOf.every((option) => typeof option?.const === 'string');
  if (!isChoice && !isTitledChoice)
    throw invalid(`${path}.items`, items, "type 'string' with `enum`, or `anyOf` with a `const` and `title` each");
}

function invalid(path: string, given: unknown, expected: string): QuiverError {
  const type = isObject(given) ? given['type'] : undefined;
  const found =
    type === undefined ? (JSON.stringify(given) ?? 'missing').slice(0, 100) : `of type ${JSON.stringify(type)}`;
  return new QuiverError(
    'ELICITATION_SCHEMA_INVALID',
    `Cannot send the elicitation request: ${path} is ${found}; it needs ${expected}. A form has no nested values: make each one a separate field.`,
    { details: { path } },
  );
}
