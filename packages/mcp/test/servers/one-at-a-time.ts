import type { Result } from '../../src/content.js';
import type { CallExtension, RegisteredTool } from '../../src/server/call-extension.js';

/** A small call extension: calls of destructive tools run one after another. */
export class OneAtATime implements CallExtension {
  #last: Promise<unknown> = Promise.resolve();

  register({ listed }: RegisteredTool): boolean {
    return listed.annotations?.destructiveHint === true;
  }

  run(_request: object, _registered: RegisteredTool, run: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(run);
    this.#last = result.catch(() => {});
    return result;
  }
}
