import type { McpRoot } from '@quiver/core/tools';
import { isObject } from '../protocol/json-rpc.js';
import type { ClientQuestion } from './client-question.js';

/** The places the client works on. */
export function rootsQuestion(): ClientQuestion<McpRoot[]> {
  return {
    method: 'roots/list',
    requires: { roots: {} },
    subject: 'ROOTS',
    what: "the client's roots",
    parse: (answer) => {
      const roots = isObject(answer) ? answer['roots'] : undefined;
      return Array.isArray(roots) && roots.every(isRoot) ? roots : undefined;
    },
  };
}

function isRoot(root: unknown): root is McpRoot {
  return isObject(root) && typeof root['uri'] === 'string';
}
