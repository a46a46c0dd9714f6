import type { ResultLimit } from '@quiver/core/tools';
import type { Result } from '../../content.js';
import { parseResultLimit, type SizeLimit } from '../../result-limit/size-limit.js';
import type { CallExtension, RegisteredTool } from '../../server/call-extension.js';
import type { Feature } from '../../server/feature.js';
import { limitResult } from './limit-result.js';

/** Limits of the results of tools: `resultLimit` of the server, or that of a tool, which replaces it. */
export class ResultLimits implements Feature, CallExtension {
  readonly call: CallExtension = this;
  readonly #ofServer: SizeLimit | undefined;
  readonly #limits = new WeakMap<RegisteredTool, SizeLimit>();

  /** @throws `OPTIONS_INVALID` */
  constructor(limit: ResultLimit | undefined) {
    this.#ofServer = limit === undefined ? undefined : parseResultLimit(limit);
  }

  /** @throws `OPTIONS_INVALID` */
  register(registered: RegisteredTool): boolean {
    const own = registered.tool.mcp?.resultLimit;
    const limit = own === undefined ? this.#ofServer : own && parseResultLimit(own);
    if (limit) this.#limits.set(registered, limit);
    return Boolean(limit);
  }

  run(_request: object, registered: RegisteredTool, run: () => Promise<Result>): Promise<Result> {
    const limit = this.#limits.get(registered);
    return limit ? run().then((result) => limitResult(result, limit)) : run();
  }
}
