import { invalidOptions } from '@quiver/core/internal';
import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { QuiverError, toErrorMessage } from '@quiver/core';
import type { CallToolResult, ProtocolTool } from '@quiver/mcp/client';
import { isObject } from '../json.js';
import { includesMembers } from './includes-members.js';
import type { AskedKind, TestCall, TestClient } from './test-client.js';

/** A part of a text, or a pattern that it matches. */
export type TextPattern = string | RegExp;

/** Assertions about a client or a call, which reject when they do not hold. */
export interface McpAssertions {
  /**
   * Requires that a client, or a list of definitions, has a tool.
   *
   * @param definition - members that its definition must have, for example `{ annotations: { readOnlyHint: true } }`
   */
  toOfferTool(name: string, definition?: Partial<ProtocolTool>): Promise<void>;
  /** Requires that a call returned a value: its structured content, its text (a pattern too), the JSON in its text, or its content. */
  toReturnResult(expected: unknown): Promise<void>;
  /** Requires that a call failed, with an error result or an error. @param expected - part of its text, a pattern, or an error code */
  toFailWith(expected: TextPattern): Promise<void>;
  /** Requires that the server sent a request during a call. @param expected - part of its message or parameters, or a pattern */
  toAsk(kind: AskedKind, expected?: TextPattern): Promise<void>;
}

/** Outcome of a matcher, as `expect.extend` of Vitest takes it. */
export interface MatcherOutcome {
  pass: boolean;
  message: () => string;
  actual?: unknown;
  expected?: unknown;
}

/** The matchers of {@link McpAssertions}, before a test runner. */
export type McpMatchers = {
  [Name in keyof McpAssertions]: (
    received: unknown,
    ...args: Parameters<McpAssertions[Name]>
  ) => Promise<MatcherOutcome>;
};

/** @param equals - compares values as the test runner does */
export function createMatchers(equals: (actual: unknown, expected: unknown) => boolean): McpMatchers {
  return {
    async toOfferTool(received, name, definition = {}) {
      const tools = await readTools(received);
      const tool = tools.find((candidate) => candidate.name === name);
      const different = Object.entries(definition).flatMap(([key, expected]) => {
        const actual = tool?.[key as keyof ProtocolTool];
        return includesMembers(actual, expected, equals) ? [] : [`${key} ${show(actual)}, not ${show(expected)}`];
      });
      const names = tools.map((candidate) => candidate.name).join(', ') || 'none';
      const problem = tool ? `it has ${different.join('; ')}` : `the tools are: ${names}`;
      return outcome(tool !== undefined && different.length === 0, `the server to offer the tool '${name}'`, problem);
    },
    async toReturnResult(received, expected) {
      const call = await readCall('toReturnResult', received);
      const what = `'${call.tool}' to return ${show(expected)}`;
      const failure = failureOf(call);
      if (failure !== undefined) return outcome(false, what, `it failed: ${failure}`);
      const values = valuesOf(call);
      const pass = values.some((value) =>
        expected instanceof RegExp ? typeof value === 'string' && matches(value, expected) : equals(value, expected),
      );
      return { ...outcome(pass, what, `it returned ${show(values[0])}`), actual: values[0], expected };
    },
    async toFailWith(received, expected) {
      const call = await readCall('toFailWith', received);
      const failure = failureOf(call);
      const pass = failure !== undefined && matches(failure, expected);
      const problem = failure === undefined ? `it returned ${show(valuesOf(call)[0])}` : `it failed with: ${failure}`;
      return outcome(pass, `'${call.tool}' to fail with ${show(expected)}`, problem);
    },
    async toAsk(received, kind, expected = '') {
      const call = await readCall('toAsk', received);
      const { tool, asked } = call;
      const sent = asked.map((request) => ({ kind: request.kind, text: JSON.stringify(request.params) }));
      const pass = sent.some((request) => request.kind === kind && matches(request.text, expected));
      const what = `'${tool}' to send an ${kind} request${expected === '' ? '' : ` with ${show(expected)}`}`;
      const failure = failureOf(call);
      const rest = failure === undefined ? '' : `, and it failed: ${failure}`;
      const all = sent.map((request) => `${request.kind} ${request.text}`).join('; ') || 'no request';
      return outcome(pass, what, `it sent ${all}${rest}`);
    },
  };
}

/**
 * Returns assertions about a client or a call, for `node:test` and every other test runner. With Vitest, `expect.extend(mcpMatchers)` gives
 * `expect` the same.
 *
 * @param received - a client of `createTestClient()`, or a call of `client.call()`
 * @throws `AssertionError` of `node:assert`, by the assertions; `OPTIONS_INVALID` for another value
 * @example
 * await expectMcp(client).toOfferTool('add');
 * await expectMcp(client.call('add', { a: 1, b: 2 })).toReturnResult({ sum: 3 });
 * await expectMcp(client.call('add', {})).not.toReturnResult({ sum: 3 });
 */
export function expectMcp(received: unknown): McpAssertions & { not: McpAssertions } {
  return { ...createAssertions(received, true), not: createAssertions(received, false) };
}

const nodeMatchers = createMatchers(isDeepStrictEqual);

function createAssertions(received: unknown, isExpected: boolean): McpAssertions {
  const require = async (outcomeOf: Promise<MatcherOutcome>): Promise<void> => {
    const { pass, message, actual, expected } = await outcomeOf;
    if (pass !== isExpected) throw new AssertionError({ message: message(), actual, expected });
  };
  const entries = Object.entries(nodeMatchers).map(([name, match]) => [
    name,
    (...args: [never, never]) => require(match(received, ...args)),
  ]);
  // The parameters of each assertion are those of its matcher.
  return Object.fromEntries(entries) as McpAssertions;
}

function outcome(pass: boolean, what: string, problem: string): MatcherOutcome {
  return { pass, message: () => (pass ? `Did not expect ${what}.` : `Expected ${what}, but ${problem}.`) };
}

async function readTools(received: unknown): Promise<readonly ProtocolTool[]> {
  const value = (await received) as Partial<TestClient> | readonly ProtocolTool[] | undefined;
  if (Array.isArray(value)) return value as readonly ProtocolTool[];
  const { tools } = (value ?? {}) as Partial<TestClient>;
  if (typeof tools !== 'function')
    throw invalidOptions('toOfferTool takes a client of createTestClient(), or a list of definitions.');
  return tools();
}

async function readCall(matcher: string, received: unknown): Promise<TestCall> {
  const call = await received;
  if (isObject(call) && Array.isArray(call['asked']) && typeof call['tool'] === 'string')
    return call as unknown as TestCall;
  throw invalidOptions(`${matcher} takes a call: \`expect(client.call('add', { a: 1 }))\`.`);
}

/** Returns the text of a failure, `undefined` for a call that did not fail. */
function failureOf({ result, error }: TestCall): string | undefined {
  if (result?.isError) {
    const { structuredContent } = result;
    return [...textsOf(result), ...(structuredContent === undefined ? [] : [JSON.stringify(structuredContent)])].join(
      '\n',
    );
  }
  if (result) return undefined;
  const code = error instanceof QuiverError ? `${error.code}: ` : '';
  return `${code}${toErrorMessage(error)}`;
}

function textsOf({ content }: CallToolResult): string[] {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

/** Returns the forms in which a result may be expected, first the one that is shown. */
function valuesOf({ result }: TestCall): unknown[] {
  if (!result) return [];
  const { structuredContent, content } = result;
  const texts = textsOf(result);
  const text = texts.length > 0 ? [texts.join('\n')] : [];
  return [
    ...(structuredContent === undefined ? [] : [structuredContent]),
    ...text,
    ...text.flatMap(parseJson),
    content,
  ];
}

function parseJson(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

function matches(text: string, expected: TextPattern): boolean {
  return typeof expected === 'string' ? text.includes(expected) : expected.test(text);
}

/** @param maxLength - in characters; the rest is cut off */
export function show(value: unknown, maxLength = 500): string {
  const text = value instanceof RegExp ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
