import { QuiverError, toErrorMessage, type Logger } from '@quiver/core';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { isObject } from '../../../protocol/json-rpc.js';
import { readLimitedText } from '../../read-limited-text.js';

export interface KeySetOptions {
  readonly url: URL;
  readonly timeout?: number;
  readonly cooldown?: number;
  readonly maxKeyAge?: number;
  readonly fetch?: (url: string, init?: RequestInit) => Promise<Response>;
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * The keys behind a URL. They are asked for when there are none, when they are old, and when a token names one that is not among
 * them; never twice within the cooldown, whether the last attempt succeeded or not. Known keys outlive an outage.
 */
export function createKeySet({
  url,
  timeout = 5000,
  cooldown = 30_000,
  maxKeyAge = 600_000,
  fetch = globalThis.fetch,
  now,
  logger,
}: KeySetOptions): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined;
  let loadedAt = 0;
  let triedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | undefined;

  const load = async (): Promise<void> => {
    triedAt = now();
    const response = await fetch(url.href, {
      headers: { accept: 'application/jwk-set+json, application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeout),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new QuiverError('OAUTH_KEYS_UNAVAILABLE', `The key set at ${url.origin} answered ${response.status}.`);
    }
    const set: unknown = JSON.parse(await readLimitedText(response));
    if (!isObject(set)) throw new QuiverError('OAUTH_KEYS_UNAVAILABLE', `${url.origin} did not send a key set.`);
    const { createLocalJWKSet } = await import('jose');
    keys = createLocalJWKSet(set as unknown as JSONWebKeySet);
    loadedAt = now();
  };

  const refresh = async (): Promise<void> => {
    if (!loading && now() - triedAt < cooldown) {
      if (keys) return;
      throw new QuiverError('OAUTH_KEYS_UNAVAILABLE', `The key set at ${url.origin} was not available a moment ago.`);
    }
    loading ??= load().finally(() => {
      loading = undefined;
    });
    try {
      await loading;
    } catch (error) {
      if (!keys) throw error;
      logger.warn(
        `The key set at ${url.origin} cannot be refreshed; known keys go on serving: ${toErrorMessage(error)}`,
      );
    }
  };

  return async (header, token) => {
    if (!keys || now() - loadedAt > maxKeyAge) await refresh();
    try {
      return await lookUp();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error;
      await refresh();
      return lookUp();
    }

    function lookUp(): ReturnType<JWTVerifyGetKey> {
      if (!keys) throw new QuiverError('OAUTH_KEYS_UNAVAILABLE', `The key set at ${url.origin} is not available.`);
      return keys(header, token);
    }
  };
}
