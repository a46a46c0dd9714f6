import type { CodeLanguage } from '../document/chunking/code-languages.js';
import type { DocumentType } from '../document/document.js';

/** Format of a file. */
export type FileKind = { type: DocumentType; language?: CodeLanguage } | { type: 'pdf' };

const extensions: Readonly<Record<DocumentType | 'pdf' | CodeLanguage, string>> = {
  markdown: 'md markdown mdx',
  html: 'html htm xhtml',
  json: 'json jsonl ndjson',
  pdf: 'pdf',
  text: 'txt text log csv tsv yaml yml toml ini xml adoc org css sql sh bash env',
  c: 'c h',
  cobol: 'cob cbl cpy',
  cpp: 'cc cpp cxx hpp hh hxx',
  csharp: 'cs',
  elixir: 'ex exs',
  go: 'go',
  haskell: 'hs',
  java: 'java',
  js: 'js mjs cjs jsx',
  kotlin: 'kt kts',
  latex: 'tex',
  lua: 'lua',
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

const documentTypes: ReadonlySet<string> = new Set(['markdown', 'html', 'json', 'pdf', 'text']);

const kinds: ReadonlyMap<string, FileKind> = new Map(
  Object.entries(extensions).flatMap(([kind, names]) => {
    const isType = documentTypes.has(kind);
    const fileKind = (isType ? { type: kind } : { type: 'text', language: kind }) as FileKind;
    return names.split(' ').map((name) => [name, fileKind]);
  }),
);

/** Returns the kind of a file by the extension of its name, or `undefined` for an unknown extension. */
export function fileKind(path: string): FileKind | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? undefined : kinds.get(name.slice(dot + 1).toLowerCase());
}
