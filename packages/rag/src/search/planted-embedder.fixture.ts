import { readFileSync } from 'node:fs';
import { randomFrom } from '../../../../scripts/test-random.ts';
import type { CustomEmbedder } from '../embedding/index.js';

/** A passage, with the file that it is from. */
export interface FieldPassage {
  readonly id: string;
  readonly text: string;
  readonly source: string;
}

/** A query, with the ids of the passages that answer it. */
export interface FieldQuestion {
  readonly question: string;
  readonly relevant: readonly string[];
  /** Whether the query uses other words than the answer. */
  readonly isReworded: boolean;
}

/** Reads the questions of the field benchmark, those without an answer, and the quotes of real documents that answer them: each one is a passage. */
export function readFieldCases(): { passages: FieldPassage[]; questions: FieldQuestion[]; unanswerable: string[] } {
  const passages = new Map<string, FieldPassage>();
  const questions: FieldQuestion[] = [];
  const unanswerable: string[] = [];
  for (const half of ['visible', 'held-out']) {
    const file = new URL(`../../../../benchmarks/field/cases/${half}.json`, import.meta.url);
    const cases = JSON.parse(readFileSync(file, 'utf8')) as {
      question: string;
      isReworded?: boolean;
      answers: { source: string; quote?: string; row?: string[] }[];
    }[];
    for (const { question, answers, isReworded = false } of cases) {
      const relevant = answers.map(({ source, quote, row = [] }) => {
        const text = quote ?? row.join(', ');
        const known = passages.get(text) ?? { id: `p${String(passages.size).padStart(3, '0')}`, text, source };
        passages.set(text, known);
        return known.id;
      });
      if (relevant.length > 0) questions.push({ question, relevant, isReworded });
      else unanswerable.push(question);
    }
  }
  return { passages: [...passages.values()], questions, unanswerable };
}

const dimension = 64;

/**
 * Creates an embedder of known quality: its vectors are random, and with the probability `quality` a query gets a vector near one of a passage
 * that answers it. The same seed gives the same vectors.
 */
export function plantedEmbedder({
  quality,
  seed,
  passages,
  questions,
}: { quality: number; seed: number } & Pick<
  ReturnType<typeof readFieldCases>,
  'passages' | 'questions'
>): CustomEmbedder {
  const textOf = new Map(passages.map(({ id, text }) => [id, text]));
  const answersOf = new Map(questions.map(({ question, relevant }) => [question, relevant]));
  const embedOne = (text: string, purpose: string | undefined): Float32Array => {
    const random = randomFrom(`${seed} ${purpose} ${text}`);
    const relevant = purpose === 'query' ? answersOf.get(text) : undefined;
    const [isUnderstood, answer] = [random() < quality, relevant?.[Math.floor(random() * relevant.length)]];
    if (!isUnderstood || answer === undefined) return randomVector(random);
    const near = randomVector(randomFrom(`${seed} document ${textOf.get(answer)}`));
    const noise = randomVector(random);
    return near.map((value, at) => value + (noise[at] as number));
  };
  return {
    id: `planted-${quality}-${seed}`,
    dimension,
    embed: async (texts, options) => texts.map((text) => embedOne(text, options?.purpose)),
  };
}

/** Of length 1 on average. */
function randomVector(random: () => number): Float32Array {
  return Float32Array.from(
    { length: dimension },
    () => (random() + random() + random() + random() - 2) * Math.sqrt(3 / dimension),
  );
}
