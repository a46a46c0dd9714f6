import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { toModelSchema } from '@quiver/core/schema';
import { partsOf } from '../../requests/parts-of.js';
import { contextKey, fixedKeys } from '../metadata-keys.js';
import type { Metadata } from '../chunk.js';
import { askAll, askForObject, askForText, describeFailures, type ModelRequest } from './ask-model.js';
import {
  chunksPerRequest,
  contextPrefix,
  defaultMaxDocumentLength,
  situateChunks,
  type ExtractItem,
} from './chunk-context.js';
import {
  requireExtractParams,
  type ExtractFailure,
  type ExtractParams,
  type SchemaExtractorOptions,
} from './extract-options.js';

/**
 * Calls language models for each item, a few at a time. A failed request does not affect the others.
 *
 * @param keep - receives the metadata of each item, before failures are thrown
 * @throws `OPTIONS_INVALID`, `EXTRACT_MODEL_MISSING` before the first request; the abort reason; `EXTRACTION_FAILED`
 */
export async function extractMetadata(
  items: readonly ExtractItem[],
  params: ExtractParams,
  keep: (metadata: readonly Metadata[]) => void,
): Promise<void> {
  requireExtractParams(params);
  const { onFailure } = params;
  const steps = planSteps(items, params);
  const toFailure = ({ extractor, chunk }: Step, error: unknown): ExtractFailure => {
    const id = items[chunk]?.id;
    return { extractor, chunk, ...(id !== undefined && { chunkId: id }), error };
  };
  const { answers: stores, failures } = await askAll(steps, ({ ask }) => ask(), toFailure, params);
  const metadata: Metadata[] = items.map(() => ({}));
  // Answers arrive in any order. Metadata keys have a fixed order.
  for (const store of stores) store?.(metadata);
  keep(metadata);
  if (failures.length > 0 && !onFailure) throw extractionFailed(failures);
}

function extractionFailed(failures: readonly ExtractFailure[]): QuiverError {
  const described = describeFailures(failures, ({ extractor, chunk }) => `${extractor} of chunk ${chunk}`);
  return new QuiverError(
    'EXTRACTION_FAILED',
    `Metadata could not be extracted (${described}). Everything else was extracted; pass onFailure to continue without an error.`,
    { cause: failures[0]?.error, details: { failures } },
  );
}

type Extractor = ExtractFailure['extractor'];
type OptionsOf<Name extends Extractor> = Exclude<NonNullable<ExtractParams[Name]>, boolean | string>;
type ModelAccess = Omit<ModelRequest, 'prompt'>;

/** Writes an answer to the metadata of items. */
type Store = (found: readonly Metadata[]) => void;

interface Step {
  readonly extractor: Extractor;
  readonly chunk: number;
  readonly ask: () => Promise<Store>;
}

function planSteps(items: readonly ExtractItem[], params: ExtractParams): Step[] {
  // A model invents an answer for a text without content.
  const chunks = [...items.keys()].filter((chunk) => items[chunk]!.text.trim() !== '');
  const textOf = (chunk: number): string => items[chunk]!.text;

  /** Plans one request for each group of chunks. */
  function plan<Name extends Extractor>(
    extractor: Name,
    groups: readonly number[][],
    ask: (group: readonly number[], options: OptionsOf<Name>, model: ModelAccess) => Promise<Store>,
  ): Step[] {
    const options = readOptions(params, extractor);
    if (!options) return [];
    const model = requireModel(params, extractor);
    return groups.map((group) => ({ extractor, chunk: group[0]!, ask: () => ask(group, options, model) }));
  }

  const storeAs =
    (key: string, group: readonly number[], answer: unknown): Store =>
    (found) => {
      for (const chunk of group) found[chunk]![key] = answer;
    };
  const each = chunks.map((chunk) => [chunk]);
  return [
    ...plan('schema', each, async ([chunk = 0], options, model) => {
      const facts = await askForFacts(textOf(chunk), options, model);
      return (found) => void Object.assign(found[chunk]!, facts);
    }),
    ...plan(
      'summary',
      each,
      async ([chunk = 0], { promptTemplate = summaryPrompt, summaries = ['self' as const] }, model) => {
        const answer = await askWith(model, promptTemplate, { context: textOf(chunk) });
        return (found) => {
          for (const whose of summaries) {
            const target = chunk + (whose === 'prev' ? 1 : whose === 'next' ? -1 : 0);
            // The neighbors of a chunk are in the same document.
            if (items[target] && items[target].group === items[chunk]?.group)
              found[target]![summaryKeys[whose]] = answer;
          }
        };
      },
    ),
    ...plan('questions', each, async (group, { promptTemplate = questionsPrompt, questions = 5 }, model) => {
      const values = { context: textOf(group[0]!), numQuestions: String(questions) };
      return storeAs('questionsThisExcerptCanAnswer', group, await askWith(model, promptTemplate, values));
    }),
    ...plan('keywords', each, async (group, { promptTemplate = keywordsPrompt, keywords = 5 }, model) => {
      const values = { context: textOf(group[0]!), maxKeywords: String(keywords) };
      return storeAs('excerptKeywords', group, await askWith(model, promptTemplate, values));
    }),
    // One title for each document, from titles of its first chunks.
    ...plan(
      'title',
      groupBy(chunks, (chunk) => items[chunk]!.group),
      async (group, options, model) => {
        const { nodes = 5, nodeTemplate = titlePrompt, combineTemplate = combinePrompt } = options;
        const titles: string[] = [];
        for (const chunk of group.slice(0, nodes))
          titles.push(await askWith(model, nodeTemplate, { context: textOf(chunk) }));
        const [first] = titles;
        const title =
          titles.length === 1 ? first : await askWith(model, combineTemplate, { context: titles.join('\n') });
        return storeAs('documentTitle', group, title);
      },
    ),
    ...planContexts(items, chunks, params),
  ];
}

/** Plans one step for several chunks of a document, because the model reads the whole document for each request. */
function planContexts(items: readonly ExtractItem[], chunks: readonly number[], params: ExtractParams): Step[] {
  const options = readOptions(params, 'context');
  if (!options) return [];
  if (items.some(({ id }) => id === undefined))
    throw invalidOptions("The extractor 'context' is for chunks: call chunk() first.");
  const model = params.context === 'prefix' ? undefined : requireModel(params, 'context');
  const { fields, maxDocumentLength = defaultMaxDocumentLength } = options;
  // The chunks of a request fill at most half of the part of the document that the model sees.
  const limit = { sizeOf: (chunk: number): number => items[chunk]!.text.length, maxSize: maxDocumentLength / 2 };
  const groups = groupBy(chunks, (chunk) => items[chunk]!.document);
  return groups.flatMap((group) =>
    partsOf(group, chunksPerRequest, limit).map((part): Step => {
      const members = part.map((chunk) => items[chunk]!);
      const ask = async (): Promise<Store> => {
        const sentences = model ? await situateChunks(members, options, model) : [];
        return (found) => {
          for (const [place, chunk] of part.entries()) {
            const prefix = contextPrefix(members[place]!.metadata, fields);
            const context = [prefix, sentences[place] ?? ''].filter((text) => text !== '').join('\n');
            if (context !== '') found[chunk]![contextKey] = context;
          }
        };
      };
      return { extractor: 'context', chunk: part[0]!, ask };
    }),
  );
}

function groupBy(chunks: readonly number[], keyOf: (chunk: number) => unknown): number[][] {
  const groups = new Map<unknown, number[]>();
  for (const chunk of chunks) {
    const known = groups.get(keyOf(chunk));
    if (known) known.push(chunk);
    else groups.set(keyOf(chunk), [chunk]);
  }
  return [...groups.values()];
}

function readOptions<Name extends Extractor>(params: ExtractParams, extractor: Name): OptionsOf<Name> | undefined {
  const given: unknown = params[extractor];
  // The options of extractors that can be `true` are optional.
  return given ? ((typeof given === 'object' ? given : {}) as OptionsOf<Name>) : undefined;
}

function requireModel(params: ExtractParams, extractor: Extractor): ModelAccess {
  const llm = readOptions(params, extractor)?.llm ?? params.llm;
  if (llm !== undefined) return { llm, signal: params.signal };
  throw new QuiverError(
    'EXTRACT_MODEL_MISSING',
    `The extractor '${extractor}' has no language model. Pass llm: an AI SDK model, or a string such as 'openai/gpt-5.1'.`,
  );
}

async function askForFacts(
  text: string,
  { schema, instructions, metadataKey }: SchemaExtractorOptions,
  model: ModelAccess,
): Promise<object> {
  const prompt = `${instructions ?? 'Read the text and fill in what the schema asks for.'}\n\nAnswer with nothing but JSON of this JSON Schema:\n${JSON.stringify(toModelSchema(schema))}\n\nThe text:\n${text}`;
  const answer = await askForObject({ ...model, prompt }, schema);
  if (metadataKey !== undefined) return { [metadataKey]: answer };
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw answerInvalid(`is not an object, but ${JSON.stringify(answer)}`);
  const taken = Object.keys(answer).find((key) => fixedKeys.has(key));
  if (taken !== undefined) throw answerInvalid(`has a property ${taken}, which Quiver relies on`);
  return answer;
}

function answerInvalid(problem: string): QuiverError {
  return new QuiverError('EXTRACT_ANSWER_INVALID', `The answer of the model ${problem}. Set metadataKey to keep it.`);
}

/** Fills in the template at once, so that a text that contains `{context}` stays unchanged. */
function askWith(model: ModelAccess, template: string, values: Readonly<Record<string, string>>): Promise<string> {
  const fill = (place: string, name: string): string => (Object.hasOwn(values, name) ? values[name]! : place);
  return askForText({ ...model, prompt: template.replace(/\{(\w+)\}/g, fill) });
}

const summaryKeys = { self: 'sectionSummary', prev: 'prevSectionSummary', next: 'nextSectionSummary' } as const;

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
