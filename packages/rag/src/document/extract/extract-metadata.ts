import { QuiverError, toErrorMessage } from '@quiver/core';
import { toJsonSchema } from '@quiver/core/schema';
import { createLimit } from '../../embedding/call-model.js';
import type { Metadata } from '../chunk.js';
import { askForObject, askForText, type ModelRequest } from './ask-model.js';
import {
  requireExtractParams,
  type ExtractFailure,
  type ExtractParams,
  placeKeys,
  type LanguageModelInput,
} from './extract-options.js';

/** A chunk, or a whole document. */
export interface ExtractItem {
  readonly id?: string;
  readonly text: string;
  /** Items of one group are parts of one document. */
  readonly group: unknown;
}

export interface Extraction {
  /** Extracted metadata of each item. */
  readonly metadata: readonly Metadata[];
  readonly failures: readonly ExtractFailure[];
}

/**
 * Calls language models for each item, a few at a time. A failed request does not affect the others.
 *
 * @throws `EXTRACT_OPTIONS_INVALID`, `EXTRACT_MODEL_MISSING` before the first request; the abort reason
 */
export async function extractMetadata(items: readonly ExtractItem[], params: ExtractParams): Promise<Extraction> {
  requireExtractParams(params);
  const { signal, concurrency = 4, onProgress, onFailure } = params;
  const found: Metadata[] = items.map(() => ({}));
  const failures: ExtractFailure[] = [];
  const steps = planSteps(items, params);
  let done = 0;

  async function run({ extractor, chunk, ask, store }: Step): Promise<void> {
    signal?.throwIfAborted();
    try {
      store(found, await ask(signal));
    } catch (error) {
      signal?.throwIfAborted();
      const { id } = items[chunk] as ExtractItem;
      const failure: ExtractFailure = { extractor, chunk, ...(id !== undefined && { chunkId: id }), error };
      failures.push(failure);
      onFailure?.(failure);
    }
    done += 1;
    onProgress?.({ done, total: steps.length });
  }

  signal?.throwIfAborted();
  const limit = createLimit(concurrency);
  await Promise.all(steps.map((step) => limit(() => run(step))));
  return { metadata: found.map(inOrder), failures };
}

/** One error for all failures. */
export function extractionFailed(failures: readonly ExtractFailure[]): QuiverError {
  const named = failures
    .slice(0, 5)
    .map(({ extractor, chunk, error }) => `${extractor} of chunk ${chunk}: ${toErrorMessage(error)}`)
    .join('; ');
  const more = failures.length > 5 ? `; and ${failures.length - 5} more` : '';
  return new QuiverError(
    'EXTRACTION_FAILED',
    `Metadata could not be extracted (${named}${more}). Everything else was extracted; pass onFailure to continue without an error.`,
    { cause: failures[0]?.error, details: { failures } },
  );
}

interface Step {
  readonly extractor: ExtractFailure['extractor'];
  readonly chunk: number;
  readonly ask: (signal: AbortSignal | undefined) => Promise<unknown>;
  readonly store: (found: Metadata[], answer: unknown) => void;
}

function planSteps(items: readonly ExtractItem[], params: ExtractParams): Step[] {
  const steps: Step[] = [];
  const plan = (
    extractor: Step['extractor'],
    options: { llm?: LanguageModelInput },
    ask: (request: Omit<ModelRequest, 'prompt'>, text: string) => Promise<unknown>,
    store: (found: Metadata[], chunk: number, answer: unknown) => void,
  ): void => {
    const llm = requireModel(extractor, options, params);
    for (const [chunk, { text }] of items.entries()) {
      if (isBlank(text)) continue;
      const askAbout: Step['ask'] = (signal) => ask({ llm, signal }, text);
      steps.push({ extractor, chunk, ask: askAbout, store: (found, answer) => store(found, chunk, answer) });
    }
  };
  const storeAs =
    (key: string) =>
    (found: Metadata[], chunk: number, answer: unknown): void => {
      found[chunk]![key] = answer;
    };
  const { schema } = params;
  if (schema) {
    plan(
      'schema',
      schema,
      (request, text) => askForFacts(request, text, schema),
      (found, chunk, answer) => Object.assign(found[chunk]!, answer),
    );
  }
  const summary = optionsOf(params.summary);
  if (summary) {
    const { promptTemplate = summaryPrompt, summaries = ['self'] } = summary;
    plan(
      'summary',
      summary,
      (request, context) => askForText({ ...request, prompt: fill(promptTemplate, { context }) }),
      (found, chunk, answer) => {
        for (const whose of summaries) {
          const target = chunk + (whose === 'prev' ? 1 : whose === 'next' ? -1 : 0);
          // The neighbors of a chunk are in the same document.
          if (items[target] && items[target].group === items[chunk]?.group) found[target]![summaryKeys[whose]] = answer;
        }
      },
    );
  }
  const questions = optionsOf(params.questions);
  if (questions) {
    const { promptTemplate = questionsPrompt, questions: count = 5 } = questions;
    plan(
      'questions',
      questions,
      (request, context) =>
        askForText({ ...request, prompt: fill(promptTemplate, { context, numQuestions: String(count) }) }),
      storeAs('questionsThisExcerptCanAnswer'),
    );
  }
  const keywords = optionsOf(params.keywords);
  if (keywords) {
    const { promptTemplate = keywordsPrompt, keywords: count = 5 } = keywords;
    plan(
      'keywords',
      keywords,
      (request, context) =>
        askForText({ ...request, prompt: fill(promptTemplate, { context, maxKeywords: String(count) }) }),
      storeAs('excerptKeywords'),
    );
  }
  return [...steps, ...titleSteps(items, params)];
}

/** A model invents an answer for a text without content. */
function isBlank(text: string): boolean {
  return text.trim() === '';
}

async function askForFacts(
  request: Omit<ModelRequest, 'prompt'>,
  text: string,
  { schema, instructions, metadataKey }: NonNullable<ExtractParams['schema']>,
): Promise<object> {
  const prompt = `${instructions ?? 'Read the text and fill in what the schema asks for.'}\n\nAnswer with nothing but JSON of this JSON Schema:\n${JSON.stringify(toJsonSchema(schema, 'input'))}\n\nThe text:\n${text}`;
  const answer = await askForObject({ ...request, prompt }, schema);
  return metadataKey === undefined ? requireProperties(answer) : { [metadataKey]: answer };
}

/** Requires an object whose properties can be metadata keys. */
function requireProperties(answer: unknown): object {
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) {
    const taken = Object.keys(answer).find((key) => placeKeys.has(key));
    if (taken === undefined) return answer;
    throw answerInvalid(`has a property ${taken}, which is the position of the chunk`);
  }
  throw answerInvalid(`is not an object, but ${JSON.stringify(answer)}`);
}

function answerInvalid(problem: string): QuiverError {
  return new QuiverError('EXTRACT_ANSWER_INVALID', `The answer of the model ${problem}. Set metadataKey to keep it.`);
}

/** Returns one step for each document: titles of its first chunks, then one title from them. */
function titleSteps(items: readonly ExtractItem[], params: ExtractParams): Step[] {
  const title = optionsOf(params.title);
  if (!title) return [];
  const llm = requireModel('title', title, params);
  const { nodes = 5, nodeTemplate = titlePrompt, combineTemplate = combinePrompt } = title;
  const groups = new Map<unknown, number[]>();
  for (const [index, { text, group }] of items.entries()) {
    if (isBlank(text)) continue;
    const chunks = groups.get(group) ?? [];
    chunks.push(index);
    groups.set(group, chunks);
  }
  return [...groups.values()].map((chunks) => ({
    extractor: 'title',
    chunk: chunks[0] as number,
    ask: async (signal) => {
      const request: Omit<ModelRequest, 'prompt'> = { llm, signal };
      const titles: string[] = [];
      for (const chunk of chunks.slice(0, nodes)) {
        titles.push(await askForText({ ...request, prompt: fill(nodeTemplate, { context: items[chunk]!.text }) }));
      }
      if (titles.length === 1) return titles[0];
      return askForText({ ...request, prompt: fill(combineTemplate, { context: titles.join('\n') }) });
    },
    store: (found, answer) => {
      for (const chunk of chunks) found[chunk]!['documentTitle'] = answer;
    },
  }));
}

function optionsOf<Options extends object>(options: boolean | Options | undefined): Partial<Options> | undefined {
  return options === true ? {} : options || undefined;
}

function requireModel(
  extractor: string,
  { llm }: { llm?: LanguageModelInput },
  params: ExtractParams,
): LanguageModelInput {
  const model = llm ?? params.llm;
  if (model !== undefined) return model;
  throw new QuiverError(
    'EXTRACT_MODEL_MISSING',
    `The extractor '${extractor}' has no language model. Pass llm: an AI SDK model, or a string such as 'openai/gpt-5.1'.`,
  );
}

/** Puts values into a template at once, so that a text that contains `{context}` stays unchanged. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? (values[name] as string) : place,
  );
}

const summaryKeys = { self: 'sectionSummary', prev: 'prevSectionSummary', next: 'nextSectionSummary' } as const;

const lateKeys = [...Object.values(summaryKeys), 'questionsThisExcerptCanAnswer', 'excerptKeywords', 'documentTitle'];

/** Results arrive in any order. Metadata keys have a fixed order. */
function inOrder(metadata: Metadata): Metadata {
  const late = lateKeys.filter((key) => key in metadata).map((key) => [key, metadata[key]] as const);
  const early = Object.entries(metadata).filter(([key]) => !lateKeys.includes(key));
  return Object.fromEntries([...early, ...late]);
}

const summaryPrompt =
  'Summarise the text in two or three sentences. Name its subject, and the people, things and numbers that matter. Answer with the summary alone.\n\nThe text:\n{context}';
const questionsPrompt =
  'Write {numQuestions} questions that the text answers and that few other texts would, one on each line, without numbers. Answer with the questions alone.\n\nThe text:\n{context}';
const keywordsPrompt =
  'Name at most {maxKeywords} keywords of the text, most important first, separated by commas. Answer with the keywords alone.\n\nThe text:\n{context}';
const titlePrompt =
  'Give a title to the document from which this text was taken. Name what it is about as exactly as the text allows. Answer with the title alone.\n\nThe text:\n{context}';
const combinePrompt =
  'These titles were given to parts of one document. Write the one title that fits all of it best. Answer with the title alone.\n\nThe titles:\n{context}';
