import type { CodeLanguage } from '../document/chunking/code-languages.js';
import type { DocumentType } from '../document/document.js';

/** Format of a file. */
export type FileKind = { type: DocumentType; language?: CodeLanguage } | { type: 'pdf' };

const types: Readonly<Record<DocumentType | 'pdf', string>> = {
  markdown: 'md markdown mdx',
  html: 'html htm xhtml',
  json: 'json jsonl ndjson',
  pdf: 'pdf',
  text: 'txt text log csv tsv yaml yml toml ini xml adoc org css sql sh bash env',
};

const languages: Readonly<Record<CodeLanguage, string>> = {
  c: 'c h',
  cobol: 'cob cbl cpy',
  cpp: 'cc cpp cxx hpp hh hxx',
  csharp: 'cs',
  elixir: 'ex exs',
  go: 'go',
  haskell: 'hs',
  html: '',
  java: 'java',
  js: 'js mjs cjs jsx',
  kotlin: 'kt kts',
  latex: 'tex',
  lua: 'lua',
  markdown: '',
  perl: 'pl pm',
  php: 'php',
  powershell: 'ps1 psm1',
  proto: 'proto',
  python: 'py pyi',
  rst: 'rst',
  ruby: 'rb',
  rust: 'rs',
  scala: 'scala sc',
  sol: 'sol',
  swift: 'swift',
  ts: 'ts mts cts tsx',
};

const kinds: ReadonlyMap<string, FileKind> = new Map([
  ...Object.entries(types).flatMap(([type, extensions]) =>
    extensions.split(' ').map((extension) => [extension, { type: type as DocumentType | 'pdf' }] as const),
  ),
  ...Object.entries(languages).flatMap(([language, extensions]) =>
    extensions
      .split(' ')
      .map((extension) => [extension, { type: 'text', language: language as CodeLanguage } as const] as const),
  ),
]);

/** Returns the kind of a file by the extension of its name, or `undefined` for an unknown extension. */
export function fileKind(path: string): FileKind | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? undefined : kinds.get(name.slice(dot + 1).toLowerCase());
}
