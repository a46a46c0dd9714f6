// Writes docs/reference/errors.md: `node docs/check/error-reference.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readErrorCodes } from './error-codes.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const file = new URL('../reference/errors.md', import.meta.url);
const causes = JSON.parse(readFileSync(new URL('error-causes.json', import.meta.url), 'utf8')) as Record<
  string,
  { cause: string; remedy: string }
>;

interface Area {
  title: string;
  /** Subject of these errors, in words that people search for. */
  about: string;
  codes: RegExp;
}

/** The groups of the page: a code belongs to the first area whose pattern it matches. */
const areas: Readonly<Record<string, readonly Area[]>> = {
  '@quiver/core': [
    {
      title: 'Tools, schemas and agents',
      about:
        'The definition of a tool or an agent, the schema of its input, the model in a string, and a call by a model.',
      codes: /^(AGENT|MODEL|OPTIONS|SCHEMA|TOOL(?!_TYPES)|WORKFLOW)_/,
    },
  ],
  '@quiver/mcp': [
    {
      title: 'MCP client',
      about: 'Connections to servers, calls of remote tools, and the requests of a server to the client.',
      codes: /^(MCP|SPAWN|SAMPLING|ELICITATION_(ANSWER|URL_REFUSED))/,
    },
    {
      title: 'MCP server',
      about:
        'The configuration of a server, its requests over HTTP and stdio, sessions, tasks, and questions to the user.',
      codes:
        /^(BODY|CALLBACK|CLIENT|ELICITATION|EVENT|LISTEN|LOG|MIDDLEWARE|PORT|PROXY|REQUEST|RESULT|SERVER|SESSION|TASK|URI|URL|<SUBJECT>|<KIND>)_/,
    },
    { title: 'Shared state', about: 'The store that several processes of a server share.', codes: /^SHARED_/ },
    { title: 'OAuth', about: 'The sign-in of a client, and the tokens that a server validates.', codes: /^OAUTH_/ },
  ],
  '@quiver/rag and @quiver/loaders': [
    {
      title: 'Documents and ingestion',
      about: 'Files that cannot be read, their chunks, the metadata that a model extracts, and the runs of `ingest`.',
      codes:
        /^(CHUNK|DOCUMENT|EXTRACT|EXTRACTION|FOLDER|GIT|GLOB|HTML|INGEST|JSON|METADATA|PAGE|PATH|PDF|SITEMAP|TOKENIZER)_/,
    },
    {
      title: 'Search and graphs',
      about: 'Queries and their filters, embedding models, rerankers, graphs, citations and evaluations.',
      codes: /^(CITATION|EMBEDDER|EMBEDDING|EVALUATION|FILTER|GRAPH|QUERY|RERANK|RETRIEVE|TRIPLES)_/,
    },
    {
      title: 'Vector stores and files',
      about: 'The database or the folder of an index: what it refuses, and why it cannot be reached.',
      codes: /^(FILE|VECTOR)_/,
    },
  ],
  '@quiver/devtools': [
    {
      title: 'Tools of development',
      about:
        'Recorded answers of a server, tests with a model, the conformance suite, types of tools, and the choice of settings.',
      codes: /^(CASES|CASSETTE|CONFORMANCE|TEST|TOOL_TYPES)_/,
    },
  ],
};

/** Problems of the table of causes, one line each: a code without an entry, and an entry without a code. */
export function findMismatches(): string[] {
  const codes = readErrorCodes(repository);
  const named = Object.keys(causes);
  return [
    ...[...codes.keys()]
      .filter((code) => !(code in causes) && !isCovered(code))
      .map((code) => `${code} has no entry in error-causes.json.`),
    ...named.filter((code) => !code.includes('<') && !codes.has(code)).map((code) => `${code} is not in the sources.`),
    ...named
      .filter(
        (code) =>
          !Object.values(areas)
            .flat()
            .some(({ codes: pattern }) => pattern.test(code)),
      )
      .map((code) => `${code} belongs to no area.`),
  ];
}

/** Values of the placeholders in codes that the sources build from a name. */
const placeholders: Readonly<Record<string, string>> = {
  '<KIND>': '(AGENT|WORKFLOW)',
  '<OPERATION>': '\\w+',
  '<SUBJECT>': '(ELICITATION|SAMPLING|ROOTS)',
};

/** Returns whether an entry with a placeholder describes a code, as MCP_CLIENT_<OPERATION>_FAILED does. */
const isCovered = (code: string): boolean =>
  Object.keys(causes).some(
    (name) =>
      name.includes('<') && new RegExp(`^${name.replace(/<\w+>/, (key) => placeholders[key] ?? key)}$`).test(code),
  );

/** Returns the text of the page. */
export function writeErrorReference(): string {
  const codes = readErrorCodes(repository);
  const left = new Set(Object.keys(causes));
  const writeArea = ({ title, about, codes: pattern }: Area): string => {
    const own = [...left].filter((code) => pattern.test(code)).toSorted();
    for (const code of own) left.delete(code);
    // Without a heading for each: a search for other words would find the shortest of them first.
    const entries = own.map((code) => {
      const messages = [...(codes.get(code) ?? [])].map((message) => `> ${escape(message)}\n`);
      return `**\`${code}\`** ${causes[code]?.cause} ${causes[code]?.remedy}\n\n${messages.join('>\n')}`;
    });
    return `### ${title}\n\n${about}\n\n${entries.join('\n')}`;
  };
  const sections = Object.entries(areas).map(([name, own]) => `## ${name}\n\n${own.map(writeArea).join('\n')}`);
  return `# Errors

Every error of Quiver is a \`QuiverError\` with a stable \`code\`, a message that says what failed and what to do, an optional \`cause\` and
\`details\`. Recognize it with \`isQuiverError(error, code)\` of \`@quiver/core\`, also across two copies of a package.

This page is generated from the sources: cause, remedy, and the messages in quotes, with \`<name>\` for values.

${sections.join('\n')}`;
}

const escape = (text: string): string =>
  text
    .replaceAll(/[<>*_`[\]|\\$]/g, (mark) => (mark === '<' ? '&lt;' : mark === '>' ? '&gt;' : `\\${mark}`))
    .replaceAll('\n', ' ');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(file, writeErrorReference());
}
