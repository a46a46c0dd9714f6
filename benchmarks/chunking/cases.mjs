// The measured cases. Every system receives the same document, size 512 and overlap 50. Token strategies count the size in tokens.
const size = 512;
const overlap = 50;

/** @param quiver - the exports of `@quiver/rag` */
export function quiverCases({ MDocument }) {
  const run = (from, options) => async (text) =>
    (await MDocument[from](text).chunk({ maxSize: size, overlap, ...options })).map((chunk) => chunk.text);
  return {
    recursive: run('fromText', { strategy: 'recursive' }),
    'recursive, TypeScript': run('fromText', { strategy: 'recursive', language: 'ts' }),
    character: run('fromText', { strategy: 'character', separator: '\n' }),
    sentence: run('fromText', { strategy: 'sentence', overlap: 0 }),
    token: run('fromText', { strategy: 'token' }),
    markdown: run('fromMarkdown', { strategy: 'markdown' }),
    'markdown, headers': run('fromMarkdown', {
      strategy: 'markdown',
      headers: [
        ['#', 'h1'],
        ['##', 'h2'],
        ['###', 'h3'],
      ],
    }),
    'semantic-markdown': run('fromMarkdown', { strategy: 'semantic-markdown', maxSize: 4000 }),
    html: run('fromHTML', { strategy: 'html' }),
    'html, headers': run('fromHTML', {
      strategy: 'html',
      headers: [
        ['h1', 'h1'],
        ['h2', 'h2'],
        ['h3', 'h3'],
      ],
    }),
    json: run('fromJSON', { strategy: 'json', overlap: 0 }),
    latex: run('fromText', { strategy: 'latex' }),
  };
}

/** `MDocument` of `@mastra/rag` chunks in place, so each run creates a new document, like the runs of Quiver. */
export function mastraCases({ MDocument }) {
  const run = (from, options) => async (text) =>
    (await MDocument[from](text).chunk(options)).map((chunk) => chunk.text);
  const common = { maxSize: size, overlap };
  return {
    recursive: run('fromText', { strategy: 'recursive', ...common }),
    'recursive, TypeScript': run('fromText', { strategy: 'recursive', language: 'ts', ...common }),
    character: run('fromText', { strategy: 'character', separator: '\n', ...common }),
    sentence: run('fromText', { strategy: 'sentence', maxSize: size, overlap: 0 }),
    token: run('fromText', { strategy: 'token', encodingName: 'cl100k_base', ...common }),
    markdown: run('fromMarkdown', { strategy: 'markdown', ...common }),
    'markdown, headers': run('fromMarkdown', {
      strategy: 'markdown',
      headers: [
        ['#', 'h1'],
        ['##', 'h2'],
        ['###', 'h3'],
      ],
    }),
    'semantic-markdown': run('fromMarkdown', { strategy: 'semantic-markdown', joinThreshold: 500 }),
    'html, headers': run('fromHTML', {
      strategy: 'html',
      headers: [
        ['h1', 'h1'],
        ['h2', 'h2'],
        ['h3', 'h3'],
      ],
    }),
    json: run('fromJSON', { strategy: 'json', maxSize: size }),
    latex: run('fromText', { strategy: 'latex', ...common }),
  };
}

/** The package has no splitter of sentences or of JSON: its recursive splitter takes their separators, or the text of the JSON. */
export function langchainCases(
  { RecursiveCharacterTextSplitter, CharacterTextSplitter, MarkdownTextSplitter, LatexTextSplitter, TokenTextSplitter },
  { getEncoding },
) {
  const common = { chunkSize: size, chunkOverlap: overlap };
  const run = (splitter) => (text) => splitter.splitText(text);
  const sentences = ['. ', '! ', '? ', '\n', ' ', ''];
  const token = new TokenTextSplitter({ encodingName: 'cl100k_base', ...common });
  // Otherwise its first call downloads the encoding.
  token.tokenizer = getEncoding('cl100k_base');
  return {
    recursive: run(new RecursiveCharacterTextSplitter(common)),
    'recursive, TypeScript': run(RecursiveCharacterTextSplitter.fromLanguage('js', common)),
    character: run(new CharacterTextSplitter({ separator: '\n', ...common })),
    sentence: run(new RecursiveCharacterTextSplitter({ ...common, chunkOverlap: 0, separators: sentences })),
    token: run(token),
    markdown: run(new MarkdownTextSplitter(common)),
    html: run(RecursiveCharacterTextSplitter.fromLanguage('html', common)),
    json: run(new RecursiveCharacterTextSplitter({ ...common, chunkOverlap: 0 })),
    latex: run(new LatexTextSplitter(common)),
  };
}

export async function chonkieCases({ RecursiveChunker, SentenceChunker }) {
  const run = async (chunker) => {
    const ready = await chunker;
    return async (text) => (await ready.chunk(text)).map((chunk) => chunk.text);
  };
  return {
    recursive: await run(RecursiveChunker.create({ chunkSize: size })),
    sentence: await run(SentenceChunker.create({ chunkSize: size, chunkOverlap: 0 })),
  };
}

/** The input document of a case and its size in bytes, which is limited so that slow systems finish too. */
export const inputs = {
  recursive: ['text', 1],
  'recursive, TypeScript': ['typescript', 1],
  character: ['text', 1],
  sentence: ['text', 1],
  token: ['text', 0.1],
  markdown: ['markdown', 1],
  'markdown, headers': ['markdown', 1],
  'semantic-markdown': ['markdown', 0.05],
  html: ['html', 1],
  'html, headers': ['html', 0.2],
  json: ['json', 1],
  latex: ['latex', 1],
};
