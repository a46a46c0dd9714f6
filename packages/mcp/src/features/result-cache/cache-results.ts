import { untilAborted } from '@quiver/core';
import {
  checkOptions,
  functionValue,
  numberIn,
  oneOf,
  type OptionChecks,
  stringList,
  required,
} from '@quiver/core/internal';
import { isToolFailure } from '@quiver/core/tools';
import { isContentResult } from '../../content.js';
import { monotonicNow } from '../../monotonic-now.js';
import { requestOf, requireKey } from '../../server/middleware/hook-context.js';
import type { ServerRequest } from '../../server/request.js';
import type { CallToolContext, Middleware } from '../../server/middleware/middleware.js';

/** Options of {@link cacheResults}. */
export interface CacheResultsOptions {
  /** Milliseconds for which a result is returned again. */
  ttlMs: number;
  /** Tools whose results are cached. Default: tools with the annotation `readOnlyHint`. */
  tools?: readonly string[];
  /**
   * `public` only for results that are the same for every caller. `private` results are cached per principal and scopes; of callers without
   * authentication over stdio and within a session, not otherwise. Default `private`.
   */
  cacheScope?: 'public' | 'private';
  /**
   * Returns a further part of the key, for tools whose results depend on more than caller and arguments: a header, or a value of the
   * request context.
   */
  key?: (context: CallToolContext) => string;
  /** Results that are cached; the least recently used one is evicted. Default 1000. */
  maxEntries?: number;
  /** Characters of all cached results and their keys. Default 16 Mi. */
  maxCharacters?: number;
}

interface Entry {
  /** A tool that was replaced has no results. */
  readonly tool: unknown;
  /** Value of the tool as JSON; `undefined` for no value. */
  readonly json: string | undefined;
  readonly size: number;
  readonly end: number;
}

const DEFAULT_MAX_ENTRIES = 1000;
const DEFAULT_MAX_CHARACTERS: number = 16 * 1024 * 1024;

const checks: OptionChecks<CacheResultsOptions> = {
  ttlMs: required(numberIn({ above: 0 })),
  tools: stringList,
  cacheScope: oneOf('public', 'private'),
  key: functionValue,
  maxEntries: numberIn({ above: 0 }),
  maxCharacters: numberIn({ above: 0 }),
};

/**
 * Returns results of tools again for a time, in the memory of this process. Equal calls that run at once share one run. Errors, and calls
 * that sent requests to the client, are not cached.
 *
 * @param now - time in milliseconds. Default: a monotonic clock
 * @throws `OPTIONS_INVALID` for an invalid option
 * @example
 * server.use(cacheResults({ ttlMs: 60_000, tools: ['weather'] }));
 */
export function cacheResults(options: CacheResultsOptions, now: () => number = monotonicNow): Middleware {
  checkOptions('cacheResults', options, checks);
  const { ttlMs, tools, cacheScope = 'private', key: furtherKey } = options;
  const { maxEntries = DEFAULT_MAX_ENTRIES, maxCharacters = DEFAULT_MAX_CHARACTERS } = options;
  const named = tools && new Set(tools);
  /** Least recently used first. */
  const entries = new Map<string, Entry>();
  const running = new Map<string, { tool: unknown; value: Promise<unknown>; request: ServerRequest }>();
  let characters = 0;

  const remove = (key: string): void => {
    characters -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  const add = (key: string, entry: Entry): void => {
    remove(key);
    if (entry.size > maxCharacters) return;
    entries.set(key, entry);
    characters += entry.size;
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries && characters <= maxCharacters) break;
      remove(oldest);
    }
  };

  return {
    async onCallTool(context, next) {
      const isCached = named ? named.has(context.name) : context.annotations?.readOnlyHint === true;
      const key = isCached ? keyOf(context, cacheScope, furtherKey) : undefined;
      if (key === undefined) return next();
      const request = requestOf(context);
      const tool = request.server.tools.get(context.name)?.tool;
      const found = entries.get(key);
      if (found?.tool === tool && found && found.end > now()) {
        entries.delete(key);
        entries.set(key, found);
        return revive(context, found.json);
      }
      const leader = running.get(key);
      if (leader?.tool === tool && leader) {
        const value = await untilAborted(() => leader.value, context.signal).catch(() => failed);
        context.signal.throwIfAborted();
        // The error of another call, which may have been canceled, is not the error of this one.
        if (isFailure(value) || leader.request.sentRequest) return next();
        const json = toJson(value);
        return json === undefined && value !== undefined ? next() : revive(context, json);
      }
      const value = next();
      running.set(key, { tool, value, request });
      try {
        const result = await value;
        const isKept = !isFailure(result) && !request.sentRequest;
        const json = isKept ? toJson(result) : undefined;
        if (isKept && (json !== undefined || result === undefined))
          add(key, { tool, json, size: key.length + (json?.length ?? 0), end: now() + ttlMs });
        return result;
      } finally {
        if (running.get(key)?.value === value) running.delete(key);
      }
    },
  };
}

const failed = Symbol('failed');

function isFailure(value: unknown): boolean {
  return value === failed || isToolFailure(value) || (isContentResult(value) && value.isError === true);
}

/** Every caller receives a copy: a middleware may change it in place. */
function revive(context: CallToolContext, json: string | undefined): unknown {
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  requestOf(context).checkedOutput = value;
  return value;
}

/** Returns `undefined` for a value without a JSON form, or with that of a string: a date becomes another result than its text. */
function toJson(value: unknown): string | undefined {
  try {
    const json = JSON.stringify(value) as string | undefined;
    return typeof value !== 'string' && json?.startsWith('"') ? undefined : json;
  } catch {
    return undefined;
  }
}

function keyOf(
  context: CallToolContext,
  cacheScope: 'public' | 'private',
  furtherKey: CacheResultsOptions['key'],
): string | undefined {
  const { name, params, arguments: args } = context;
  // The result depends on the user's input.
  if (params?.['requestState'] !== undefined || params?.['inputResponses'] !== undefined) return undefined;
  const caller = cacheScope === 'public' ? ['public'] : callerOf(context);
  return caller && toJson([name, caller, requireKey('cacheResults', furtherKey?.(context)), args]);
}

/** Returns `undefined` for a caller who cannot be distinguished from others: without authentication, session and connection of its own. */
function callerOf(context: CallToolContext): readonly unknown[] | undefined {
  const { principal, scopes, sessionId } = context;
  if (principal !== undefined) return ['principal', principal, Array.from(scopes).sort()];
  if (sessionId !== undefined) return ['session', sessionId];
  return requestOf(context).caller.transport === 'stdio' ? ['stdio'] : undefined;
}
