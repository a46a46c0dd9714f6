import { tracingChannel } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { named } from '../test/tools.js';
import { createLogger } from './create-logger.js';
import { setDefaultLogger } from './logger.js';
import { createTool, type ToolContext } from './tools/index.js';
import { observe, traceChannels, type TracePhase } from './trace.js';
import type { ToolTraceEvent, TraceEvent } from './trace-events.js';

const add = createTool({
  ...named('add'),
  execute: async (input: unknown) => {
    const { a, b } = input as { a: number; b: number };
    return a + b;
  },
});
const fail = createTool({
  ...named('fail'),
  execute: async () => {
    throw new TypeError('broken');
  },
});
const count = createTool({
  ...named('count'),
  execute: async function* () {
    yield 1;
    yield 2;
  },
});

let stop: (() => void) | undefined;

afterEach(() => {
  stop?.();
  stop = undefined;
  setDefaultLogger(createLogger());
});

function collect(): [TracePhase, TraceEvent][] {
  const seen: [TracePhase, TraceEvent][] = [];
  stop = observe((event, phase) => seen.push([phase, event]));
  return seen;
}

describe('observe', () => {
  it('receives the start and the end of a tool call with the same event', async () => {
    const seen = collect();
    expect(await add.execute({ a: 1, b: 2 }, { toolCallId: 'call-1' })).toBe(3);
    expect(seen.map(([phase]) => phase)).toEqual(['start', 'end']);
    expect(seen[0]?.[1]).toBe(seen[1]?.[1]);
    expect(seen[0]?.[1]).toMatchObject({
      type: 'tool',
      toolName: 'add',
      toolCallId: 'call-1',
      input: { a: 1, b: 2 },
      result: 3,
    });
  });

  it('receives the error of a failed call, which the caller receives too', async () => {
    const seen = collect();
    await expect(fail.execute({}, {})).rejects.toThrow('broken');
    expect(seen.at(-1)).toMatchObject(['end', { error: { message: 'broken' } }]);
    expect(seen.at(-1)?.[1]).not.toHaveProperty('result');
  });

  it('gives the call an id when the caller has none, and the tool receives it', async () => {
    const seen = collect();
    const ids: string[] = [];
    const tool = createTool({ ...named('id'), execute: async (_, { toolCallId }) => void ids.push(toolCallId) });
    await tool.execute({}, {});
    expect(seen[0]?.[1]).toMatchObject({ toolCallId: ids[0] });
  });

  it('leaves options unchanged, also instances of classes', async () => {
    class CallOptions {
      #signal = new AbortController().signal;
      get abortSignal(): AbortSignal {
        return this.#signal;
      }
      get toolName(): string {
        return 'renamed';
      }
    }
    collect();
    const options = new CallOptions();
    const execute = vi.fn(async (_: unknown, { abortSignal, toolName }: ToolContext) => [abortSignal, toolName]);
    const tool = createTool({ ...named('class'), execute });
    expect(await tool.execute({}, options)).toEqual([options.abortSignal, 'renamed']);
  });

  it('receives the last result of a tool that yields preliminary results', async () => {
    const seen = collect();
    const values: unknown[] = [];
    for await (const value of count.execute({}, {})) values.push(value);
    expect(values).toEqual([1, 2]);
    await vi.waitFor(() => expect(seen.map(([phase]) => phase)).toEqual(['start', 'end']));
    expect(seen[1]?.[1].result).toBe(2);
  });

  it('receives the end of a generator that its consumer leaves', async () => {
    const seen = collect();
    for await (const _ of count.execute({}, {})) break;
    await vi.waitFor(() => expect(seen).toHaveLength(2));
  });

  it('runs the operation within the function of a subscriber', async () => {
    const order: string[] = [];
    stop = observe((event, phase) => {
      if (phase === 'start')
        event.run = (body) => {
          order.push('before');
          return body();
        };
    });
    const tool = createTool({ ...named('order'), execute: async () => void order.push('tool') });
    await tool.execute({}, {});
    expect(order).toEqual(['before', 'tool']);
  });

  it.each([
    [
      'an observer',
      () => {
        throw new Error('bad observer');
      },
    ],
    ['an async observer', () => Promise.reject(new Error('bad observer'))],
  ])('logs the first error of %s, and the operation succeeds', async (_, observer: () => void) => {
    const lines: string[] = [];
    setDefaultLogger(createLogger({ write: (line) => lines.push(line) }));
    stop = observe(observer);
    expect(await add.execute({ a: 1, b: 1 }, {})).toBe(2);
    expect(lines).toEqual(['[quiver] error: An observer of traced operations failed: bad observer']);
  });

  it('receives nothing after it stopped, and the channels are inactive', async () => {
    const seen = collect();
    expect(Object.values(traceChannels).every(({ isActive }) => isActive)).toBe(true);
    stop?.();
    await add.execute({ a: 1, b: 1 }, {});
    expect(seen).toEqual([]);
    expect(Object.values(traceChannels).some(({ isActive }) => isActive)).toBe(false);
  });
});

describe('tracing channels of Node', () => {
  it('publish the events under the names of the channels', async () => {
    const phases: string[] = [];
    const at = (phase: string) => (event: unknown) =>
      void phases.push(`${phase} ${(event as ToolTraceEvent).toolName} ${String((event as ToolTraceEvent).result)}`);
    const subscribers = {
      start: at('start'),
      end: at('end'),
      asyncStart: at('asyncStart'),
      asyncEnd: at('asyncEnd'),
      error: at('error'),
    };
    const channel = tracingChannel('quiver:tool');
    channel.subscribe(subscribers);
    stop = () => void channel.unsubscribe(subscribers);
    await add.execute({ a: 2, b: 2 }, {});
    expect(phases).toEqual(['start add undefined', 'end add undefined', 'asyncStart add 4', 'asyncEnd add 4']);
  });

  it('keep the stack of a call unchanged without subscribers', async () => {
    const error = await fail.execute({}, {}).catch((thrown: Error) => thrown);
    expect((error as Error).stack).not.toMatch(/trace\.ts:|diagnostics_channel/);
  });
});

describe('runtimes without node:diagnostics_channel', () => {
  async function loadCopy(): Promise<typeof import('./trace.js')> {
    const { getBuiltinModule } = process;
    Object.assign(process, { getBuiltinModule: undefined });
    try {
      vi.resetModules();
      return await import('./trace.js');
    } finally {
      Object.assign(process, { getBuiltinModule });
    }
  }

  it('share the channels among copies of the package', async () => {
    const [one, other] = [await loadCopy(), await loadCopy()];
    expect(one.traceChannels).not.toBe(other.traceChannels);
    const seen: [TracePhase, unknown][] = [];
    stop = one.observe((event, phase) => seen.push([phase, event.result ?? event.error]));
    const channel = other.traceChannels['quiver:ingest'];
    expect(channel.isActive).toBe(true);
    expect(await channel.trace({ type: 'ingest', indexName: 'a' }, async () => 1)).toBe(1);
    const failing = channel.trace({ type: 'ingest', indexName: 'a' }, () => {
      throw new Error('at once');
    });
    await expect(failing).rejects.toThrow('at once');
    expect(seen).toEqual([
      ['start', undefined],
      ['end', 1],
      ['start', undefined],
      ['end', new Error('at once')],
    ]);
    const running = channel.trace({ type: 'ingest', indexName: 'b' }, async () => stop?.());
    expect(seen).toHaveLength(5);
    await running;
    expect(seen).toHaveLength(5);
    expect(channel.isActive).toBe(false);
  });
});
