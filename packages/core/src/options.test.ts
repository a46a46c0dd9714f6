import { assert, dictionary, jsonValue, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { isQuiverError } from './errors.js';
import { collectLog } from '../test/tools.js';
import {
  signalValue,
  anyValue,
  booleanValue,
  checkOptions,
  eitherOf,
  functionValue,
  ignoredOptions,
  listOf,
  numberIn,
  objectOf,
  oneOf,
  resolveAliases,
  required,
  stringValue,
  stringList,
  unchecked,
  valueThat,
  wholeNumber,
  type OptionChecks,
} from './options.js';

interface Edges {
  similarity?: number;
}

interface Options {
  topK?: number;
  threshold?: number;
  metric?: 'cosine' | 'euclidean';
  isStrict?: boolean;
  name?: string;
  keys?: readonly string[];
  edges?: boolean | Edges;
  limit?: Edges;
  onProgress?: () => void;
  signal?: AbortSignal;
  store?: unknown;
  vectorStore?: unknown;
}

const checks: OptionChecks<Options> = {
  topK: wholeNumber(1, 50),
  threshold: numberIn({ least: -1, below: 1 }),
  metric: oneOf('cosine', 'euclidean'),
  isStrict: booleanValue,
  name: stringValue,
  keys: stringList,
  edges: eitherOf('true, false or an object', booleanValue, objectOf<Edges>({ similarity: wholeNumber(1) })),
  limit: objectOf<Edges>({ similarity: valueThat((value) => value === 1, '1') }),
  onProgress: functionValue,
  signal: signalValue,
  store: anyValue,
  vectorStore: anyValue,
};

function messageOf(options: unknown): string | undefined {
  try {
    checkOptions('createQuery', options as Options, checks);
    return undefined;
  } catch (error) {
    if (!isQuiverError(error, 'OPTIONS_INVALID')) throw error;
    return error.message;
  }
}

test('accepts valid options, absent ones, and instances of classes with further members', () => {
  const { signal } = new AbortController();
  expect(messageOf({})).toBeUndefined();
  expect(messageOf({ topK: undefined, other: undefined })).toBeUndefined();
  expect(
    messageOf({ topK: 50, threshold: 0.5, metric: 'cosine', isStrict: false, name: 'a', keys: ['a'] }),
  ).toBeUndefined();
  expect(messageOf({ edges: true, limit: { similarity: 1 }, onProgress() {}, signal, store: null })).toBeUndefined();
  expect(messageOf({ edges: { similarity: 3 } })).toBeUndefined();
  class Settings {
    readonly another = 1;
    get topK(): number {
      return 3;
    }
  }
  expect(messageOf(new Settings())).toBeUndefined();
});

test.each([
  ['topk', 'topK'],
  ['top_k', 'topK'],
  ['treshold', 'threshold'],
  ['thresh', 'threshold'],
  ['minThreshold', 'threshold'],
  ['on-progress', 'onProgress'],
  ['vectorstore', 'vectorStore'],
  ['defaultMetric', 'metric'],
  ['nmae', 'name'],
  ['eddegs', 'edges'],
])("names the nearest option for the unknown '%s'", (unknown, nearest) => {
  expect(messageOf({ [unknown]: 1 })).toBe(
    `createQuery has no option '${unknown}'. Did you mean '${nearest}'? Its options are: ${Object.keys(checks).join(', ')}.`,
  );
});

test('accepts every value of unchecked options, and no other name', () => {
  type Options = { query?: unknown; filter?: unknown };
  const table: OptionChecks<Options> = unchecked<Options>()('query', 'filter');
  expect(() => checkOptions('find', { query: 1, filter: null }, table)).not.toThrow();
  const misspelled = { query: 1, filtr: {} } as object;
  expect(() => checkOptions('find', misspelled, table)).toThrow("find has no option 'filtr'. Did you mean 'filter'?");
});

test('leaves no unchecked option out, and adds none that the options do not have', () => {
  type Options = { query?: unknown; filter?: unknown };
  // @ts-expect-error 'filter' is missing
  const incomplete: OptionChecks<Options> = unchecked<Options>()('query');
  // @ts-expect-error there is no option 'filtr'
  const excessive: OptionChecks<Options> = unchecked<Options>()('query', 'filter', 'filtr');
  expect([incomplete, excessive].map((table) => Object.keys(table).length)).toEqual([1, 3]);
});

test('lists the options when no name is near, also for names of objects and of any length', () => {
  for (const name of ['apiKey', 'toString', '__proto__', '', '日本', 'x'.repeat(1_000_000)]) {
    const message = messageOf(Object.fromEntries([[name, 1]]));
    expect(message).toMatch(/^createQuery has no option '[^]*'\. Its options are: topK, /);
  }
});

test.each([
  [{ topK: 0 }, "createQuery: 'topK' must be an integer from 1 to 50, not 0."],
  [{ topK: '5' }, "createQuery: 'topK' must be an integer from 1 to 50, not '5'."],
  [{ threshold: 1 }, "createQuery: 'threshold' must be a finite number of at least -1 and below 1, not 1."],
  [{ threshold: Number.NaN }, "createQuery: 'threshold' must be a finite number of at least -1 and below 1, not NaN."],
  [{ metric: 'dot' }, "createQuery: 'metric' must be one of 'cosine', 'euclidean', not 'dot'."],
  [{ isStrict: null }, "createQuery: 'isStrict' must be true or false, not null."],
  [{ name: '' }, "createQuery: 'name' must be a non-empty string, not ''."],
  [{ keys: [''] }, "createQuery: 'keys' must be a list of non-empty strings, not a list."],
  [{ keys: Array(1) }, "createQuery: 'keys' must be a list of non-empty strings, not a list."],
  [{ edges: 1 }, "createQuery: 'edges' must be true, false or an object, not 1."],
  [{ edges: { similarity: 0.5 } }, "createQuery: 'edges.similarity' must be an integer of at least 1, not 0.5."],
  [
    { edges: { similar: 1 } },
    "createQuery has no option 'edges.similar'. Did you mean 'edges.similarity'? The options of 'edges' are: similarity.",
  ],
  [{ limit: [] }, "createQuery: 'limit' must be an object, not a list."],
  [{ onProgress: 'log' }, "createQuery: 'onProgress' must be a function, not 'log'."],
  [{ signal: {} }, "createQuery: 'signal' must be an AbortSignal, not an object."],
  [null, 'createQuery needs its options, an object, not null.'],
  ['a', "createQuery needs its options, an object, not 'a'."],
])('rejects invalid values of %o', (options, message) => {
  expect(messageOf(options)).toBe(message);
});

const lines = collectLog();

test('accepts names without effect with one warning each, and does not offer them', () => {
  const missing = ignoredOptions({ resume: 'jobs cannot be suspended.' });
  const jobChecks: OptionChecks<{ id?: string; inner?: { resume?: unknown } }> = {
    id: stringValue,
    ...missing,
    inner: objectOf<{ resume?: unknown }>(missing),
  };
  for (let call = 0; call < 3; call += 1)
    checkOptions('createTask', { resume: 1, inner: { resume: 1 } } as object, jobChecks);
  expect(lines).toEqual([
    "[quiver] warn: createTask ignores the option 'resume': jobs cannot be suspended.",
    "[quiver] warn: createTask ignores the option 'inner.resume': jobs cannot be suspended.",
  ]);
  expect(() => checkOptions('createTask', { resum: 1 } as object, jobChecks)).toThrow(
    expect.objectContaining({
      code: 'OPTIONS_INVALID',
      message: "createTask has no option 'resum'. Its options are: id, inner.",
    }),
  );
});

test('accepts names of another library where options are passed on', () => {
  const settingsOfCall = { isOpen: true };
  expect(() => checkOptions('ask', { temperature: 0, topK: 1 } as Options, checks, settingsOfCall)).not.toThrow();
  expect(() => checkOptions('ask', { temperature: 0, topK: 0 } as Options, checks, settingsOfCall)).toThrow("'topK'");
});

test('names a required option that is missing, and one of an inner object', () => {
  const table: OptionChecks<{ store?: unknown; inner?: { path?: string } }> = {
    store: required(anyValue, 'a store, such as a LocalVector'),
    inner: objectOf<{ path?: string }>({ path: required(stringValue, 'the path of a file') }),
  };
  const message = (options: object): unknown => {
    try {
      return checkOptions('createIndex', options, table);
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(message({ store: 1, inner: { path: 'a' } })).toBeUndefined();
  expect(message({ store: undefined })).toBe("createIndex needs 'store': a store, such as a LocalVector.");
  expect(message({ stor: 1 })).toMatch(/^createIndex has no option 'stor'/);
  expect(message({ store: 1, inner: {} })).toBe("createIndex needs 'inner.path': the path of a file.");
  expect(message({ store: 1, inner: { path: '' } })).toBe(
    "createIndex: 'inner.path' must be a non-empty string, not ''.",
  );
});

test('checks the items of lists', () => {
  const listChecks: OptionChecks<{ edges?: readonly Edges[] }> = {
    edges: listOf(objectOf<Edges>({ similarity: wholeNumber(1) })),
  };
  checkOptions('createQuery', { edges: [{ similarity: 1 }, {}] }, listChecks);
  expect(() => checkOptions('createQuery', { edges: [{}, { similarity: 0 }] }, listChecks)).toThrow(
    "createQuery: 'edges[1].similarity' must be an integer of at least 1, not 0.",
  );
  expect(() => checkOptions('createQuery', { edges: {} as Edges[] }, listChecks)).toThrow("'edges' must be a list");
});

test('ignores members that a program added to the prototype of all objects', () => {
  // oxlint-disable-next-line no-extend-native -- what a library that changes the prototype does
  Object.defineProperty(Object.prototype, 'added', { value: 1, enumerable: true, configurable: true, writable: true });
  try {
    expect(messageOf({ topK: 1 })).toBeUndefined();
  } finally {
    delete (Object.prototype as { added?: number }).added;
  }
});

test('reads an option with two names and rejects two values', () => {
  for (const given of [{ maxSize: 2 }, { size: 2 }, { maxSize: 2, size: 2 }])
    expect(resolveAliases('chunk', given)).toMatchObject({ maxSize: 2 });
  expect(() => resolveAliases('chunk', { size: 1, maxSize: 2 })).toThrow(
    "chunk: 'maxSize' and 'size' are two names of one option, and their values differ. Remove one.",
  );
});

test('either accepts any JSON or throws the declared error', () => {
  assert(
    property(dictionary(string(), jsonValue()), (options) => {
      const hasKnownNamesOnly = Object.keys(options).every((name) => Object.hasOwn(checks, name));
      const message = messageOf(options);
      if (!hasKnownNamesOnly) expect(message).toMatch(/^createQuery/);
    }),
  );
});
