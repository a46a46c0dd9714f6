import { QuiverError } from '@quiver/core';
import type { ElicitRequest, ElicitResult, SampleRequest } from '@quiver/core/tools';
import { isObject } from '../protocol/json-rpc.js';
import type { ClientQuestion } from './client-question.js';
import { elicitationQuestion } from './elicitation.js';
import { rootsQuestion } from './roots.js';
import { samplingQuestion } from './sampling.js';

/**
 * A question in the protocol's own words, answered with the client's result as it came, once it was checked.
 *
 * @throws `CLIENT_REQUEST_UNKNOWN` for a method that servers do not send
 */
export function rawQuestion(request: { method: string; params?: Record<string, unknown> }): ClientQuestion<unknown> {
  const question = questionFor(request);
  return {
    ...question,
    parse: async (answer) => {
      const parsed = await question.parse(answer);
      if (parsed === undefined || question.subject !== 'ELICITATION' || !isObject(answer)) return parsed && answer;
      const { content: _, ...rest } = answer;
      return { ...rest, ...(parsed as ElicitResult) };
    },
  };
}

function questionFor({
  method,
  params,
}: {
  method: string;
  params?: Record<string, unknown>;
}): ClientQuestion<unknown> {
  switch (method) {
    // The two casts: what an author passes on is the author's to get right, and the client checks it.
    case 'elicitation/create':
      return elicitationQuestion(params as unknown as ElicitRequest);
    case 'sampling/createMessage':
      return samplingQuestion(params as unknown as SampleRequest);
    case 'roots/list':
      return rootsQuestion();
    default:
      throw new QuiverError(
        'CLIENT_REQUEST_UNKNOWN',
        `A server cannot send '${method}' to a client; it can send elicitation/create, sampling/createMessage and roots/list.`,
      );
  }
}
