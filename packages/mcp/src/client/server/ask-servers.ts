import { escapeForLog, getDefaultLogger, isQuiverError, toErrorMessage, withinTime } from '@quiver/core';

/** Error of a server, for programs. */
export interface ServerErrorDetails {
  message: string;
  code?: string;
  httpStatus?: number;
}

/** Results by server, and the errors of the other servers. */
export interface Answers<Answer> {
  /** By server. A server may be here and in `errors`: then this is what it said last. */
  data: Record<string, Answer>;
  /** The reason per server that could not be asked. */
  errors: Record<string, string>;
  errorDetails: Record<string, ServerErrorDetails>;
  /** Milliseconds per server. */
  durations: Record<string, number>;
}

export interface ServerQuestion<Server, Answer> {
  readonly servers: Iterable<Server & { readonly name: string }>;
  readonly ask: (server: Server) => Promise<{ readonly answer: Answer; readonly error?: unknown }>;
  /** Milliseconds until a server without a response counts as unavailable. */
  readonly perServerTimeoutMs?: number | undefined;
}

/** Sends a request to all servers at once. An error of one server does not affect the others. */
export async function askServers<Server, Answer>({
  servers,
  ask,
  perServerTimeoutMs,
}: ServerQuestion<Server, Answer>): Promise<Answers<Answer>> {
  const answers: Answers<Answer> = { data: {}, errors: {}, errorDetails: {}, durations: {} };
  const all = [...servers];
  const started = performance.now();
  const outcomes = await Promise.all(
    all.map(async (server) => {
      try {
        return await withinTime(ask(server), perServerTimeoutMs, (limit) => new Error(`no answer within ${limit} ms`));
      } catch (error) {
        return { error };
      } finally {
        answers.durations[server.name] = Math.round(performance.now() - started);
      }
    }),
  );
  // In the order of the configuration, not of the responses.
  for (const [index, outcome] of outcomes.entries()) {
    const { name } = all[index] as { name: string };
    if ('answer' in outcome) answers.data[name] = outcome.answer;
    if (outcome.error === undefined) continue;
    answers.errors[name] = toErrorMessage(outcome.error);
    answers.errorDetails[name] = toDetails(outcome.error);
  }
  return answers;
}

/** Logs the errors of servers that are missing in a result. */
export function logMissing(what: string, errors: Record<string, string>): void {
  for (const line of Object.values(errors).flatMap((reason) => reason.split('\n')))
    getDefaultLogger().error(`${what} are missing. ${escapeForLog(line)}`);
}

function toDetails(error: unknown): ServerErrorDetails {
  const message = toErrorMessage(error);
  if (!isQuiverError(error)) return { message };
  const status = error.details?.['httpStatus'];
  return { message, code: error.code, ...(typeof status === 'number' && { httpStatus: status }) };
}
