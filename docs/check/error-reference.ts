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

const areas: readonly (readonly [title: string, codes: RegExp])[] = [
  ['Tools, schemas and agents', /^(AGENT|MODEL|OPTIONS|SCHEMA|TOOL|WORKFLOW)_/],
  ['MCP client', /^(MCP|SPAWN|SAMPLING|ELICITATION_(ANSWER|URL_REFUSED))/],
  [
    'MCP server',
    /^(BODY|CALLBACK|CLIENT|ELICITATION|EVENT|LISTEN|LOG|MIDDLEWARE|PORT|REQUEST|RESULT|SERVER|SESSION|TASK|URI|URL|<SUBJECT>|<KIND>)_/,
  ],
  ['Shared state', /^SHARED_/],
  ['Tests of servers', /^(CASSETTE|CONFORMANCE|TEST)_/],
  ['OAuth', /^OAUTH_/],
  [
    'Documents and ingestion',
    /^(CHUNK|DOCUMENT|EXTRACT|EXTRACTION|FOLDER|GIT|GLOB|HTML|INGEST|JSON|METADATA|PAGE|PATH|PDF|SITEMAP|TOKENIZER)_/,
  ],
  ['Search and graphs', /^(CASES|CITATION|EMBEDDER|EMBEDDING|EVALUATION|FILTER|GRAPH|QUERY|RERANK|RETRIEVE|TRIPLES)_/],
  ['Vector stores and files', /^(FILE|VECTOR)_/],
];

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
      .filter((code) => !areas.some(([, pattern]) => pattern.test(code)))
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
  const sections = areas.map(([title, pattern]) => {
    const own = [...left].filter((code) => pattern.test(code)).toSorted();
    for (const code of own) left.delete(code);
    const entries = own.map((code) => {
      const messages = [...(codes.get(code) ?? [])].map((message) => `> ${escape(message)}\n`);
      return `### ${code.replace('<', '&lt;').replace('>', '&gt;')}\n\n${causes[code]?.cause} ${causes[code]?.remedy}\n\n${messages.join('>\n')}`;
    });
    return `## ${title}\n\n${entries.join('\n')}`;
  });
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
