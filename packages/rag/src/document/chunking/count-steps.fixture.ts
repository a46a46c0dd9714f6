import { Session, type Profiler } from 'node:inspector';

/** Counts the steps of synchronous code. */
export interface StepCounter {
  /** Returns the steps of a function, with those of the counted scripts since the last call, because each look at the counts takes milliseconds. */
  count(run: () => unknown): number;
  stop(): void;
}

/**
 * Returns a counter of steps that are the same in every run, unlike time: how often V8 enters the functions and blocks of the code, and how
 * many characters the native methods of texts and regular expressions read. Backtracking within a regular expression is not counted.
 *
 * V8 counts the blocks of functions that it compiles afterwards, so the code must be imported later.
 *
 * @param isCounted - whether the steps of a script count, by its URL
 */
export function startStepCounter(isCounted: (url: string) => boolean): StepCounter {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  /** Returns the steps since the last call. */
  const take = (): number => {
    let steps = 0;
    // A session of the same thread responds before `post` returns.
    session.post('Profiler.takePreciseCoverage', (error, coverage) => {
      if (error) throw error;
      steps = sumOfCounts(coverage.result.filter(({ url }) => isCounted(url)));
    });
    return steps;
  };
  return {
    count: (run) => countNativeSteps(run) + take(),
    stop() {
      session.post('Profiler.stopPreciseCoverage');
      session.disconnect();
    },
  };
}

function sumOfCounts(scripts: readonly Profiler.ScriptCoverage[]): number {
  let sum = 0;
  for (const { functions } of scripts) for (const { ranges } of functions) for (const { count } of ranges) sum += count;
  return sum;
}

type Method = (this: unknown, ...values: unknown[]) => unknown;

/** Returns how many characters native methods read during a call. */
function countNativeSteps(run: () => unknown): number {
  let steps = 0;
  const originals: (() => void)[] = [];
  const observe = (
    holder: object,
    name: string,
    stepsOf: (self: unknown, args: unknown[], result: unknown) => number,
  ) => {
    const methods = holder as Record<string, Method>;
    const original = methods[name]!;
    methods[name] = function (this: unknown, ...values) {
      const before = (this as RegExp).lastIndex;
      const result = original.apply(this, values);
      steps += 1 + stepsOf(this instanceof RegExp ? { pattern: this, from: before } : this, values, result);
      return result;
    };
    originals.push(() => void (methods[name] = original));
  };
  const text = String.prototype;
  for (const name of ['indexOf', 'includes'])
    observe(text, name, (self, [part, from = 0], result) => {
      const end = typeof result === 'number' && result >= 0 ? result : String(self).length;
      return Math.max(0, end - Number(from)) + String(part).length;
    });
  observe(text, 'lastIndexOf', (self, [part, from], result) => {
    const last = Math.min(String(self).length, Number(from ?? Infinity));
    return last - Math.max(0, Number(result)) + String(part).length;
  });
  for (const name of ['trim', 'trimStart', 'trimEnd', 'toLowerCase', 'toUpperCase', 'normalize', 'split', 'replaceAll'])
    observe(text, name, (self) => String(self).length);
  observe(Intl.Segmenter.prototype, 'segment', (_, [source]) => String(source).length);
  // All other methods of regular expressions, and those of texts that take one, call `exec`.
  observe(RegExp.prototype, 'exec', (self, [source], result) => {
    const { pattern, from } = self as { pattern: RegExp; from: number };
    const start = pattern.global || pattern.sticky ? from : 0;
    if (result) return (result as RegExpExecArray).index + (result as RegExpExecArray)[0].length - start;
    const isAnchored = pattern.sticky || (pattern.source.startsWith('^') && !pattern.multiline);
    return isAnchored ? 0 : Math.max(0, String(source).length - start);
  });
  try {
    run();
  } finally {
    for (const restore of originals) restore();
  }
  return steps;
}
