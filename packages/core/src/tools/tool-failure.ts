import type { SchemaIssue } from '../schema/index.js';
import { parseContainer } from './repair-input.js';

const brand: unique symbol = Symbol.for('quiver.tool-failure') as never;

/** The first hundred issues as a tree: the issues of the value itself, and the issues below each key. */
export interface ValidationErrors {
  errors: string[];
  fields: Record<string, ValidationErrors>;
}

/**
 * Result of a tool call whose input, output or request context does not match its schema. It is returned rather than thrown so that
 * a model can read it and correct the call.
 */
export interface ToolFailure {
  error: true;
  message: string;
  validationErrors: ValidationErrors;
}

/**
 * Returns whether a value is a {@link ToolFailure}. An output of the same shape is not: the mark is hidden and cannot be sent as JSON.
 *
 * @example
 * const result = await weather.execute({ city: 'Oslo' });
 * if (isToolFailure(result)) console.error(result.validationErrors.fields);
 */
export function isToolFailure(value: unknown): value is ToolFailure {
  return (value as Partial<Record<typeof brand, boolean>> | null | undefined)?.[brand] === true;
}

export interface ToolFailureOptions {
  /** The first sentence, for example `Tool input validation failed for weather.` */
  what: string;
  issues: readonly SchemaIssue[];
  /** Label of the rejected value, for example `Provided arguments`. */
  label: string;
  /** The rejected value. The message omits values of keys that look like secrets. */
  value: unknown;
}

export function createToolFailure({ what, issues, label, value }: ToolFailureOptions): ToolFailure {
  const shown = issues.slice(0, maxIssues);
  const lines = shown.map(({ path, message }) => `- ${path.length > 0 ? path.join('.') : 'root'}: ${message}`);
  if (issues.length > maxIssues) lines.push(`- and ${issues.length - maxIssues} more`);
  const failure: ToolFailure = {
    error: true,
    message: `${what}\n${lines.join('\n')}\n\n${label}: ${preview(value)}`,
    validationErrors: toTree(shown),
  };
  return Object.defineProperty(failure, brand, { value: true });
}

function toTree(issues: readonly SchemaIssue[]): ValidationErrors {
  const root = createNode();
  for (const { path, message } of issues) {
    let node = root;
    for (const key of path) node = node.fields[key] ??= createNode();
    node.errors.push(message);
  }
  return root;
}

/** Without a prototype, so that a path through `__proto__` or `constructor` is an ordinary key. */
function createNode(): ValidationErrors {
  return { errors: [], fields: Object.create(null) as Record<string, ValidationErrors> };
}

/** Limits of the message: a failure must not be many times as long as the call. */
const maxIssues = 100;

const maxPreviewLength = 200;
const secretKey = /password|passwd|secret|token|api[-_]?key|auth|credential/i;

function preview(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value, redact, 2) ?? String(value);
  } catch {
    text = '(cannot be shown as JSON)';
  }
  return text.length > maxPreviewLength ? `${text.slice(0, maxPreviewLength)}... (truncated)` : text;
}

function redact(key: string, value: unknown): unknown {
  if (secretKey.test(key)) return '[redacted]';
  if (typeof value === 'bigint') return `${value}n`;
  // Models send JSON as text, and its keys count too.
  const parsed = typeof value === 'string' ? parseContainer(value) : undefined;
  return parsed === undefined ? value : JSON.stringify(parsed, redact);
}
