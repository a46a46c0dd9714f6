import type { CodeLanguage } from '@quiver/rag/document';
import { loadCsv } from './csv.js';
import type { DocumentLoader } from './document-loader.js';
import { loadDocx } from './docx.js';
import { loadEmail } from './email.js';
import { loadEpub } from './epub.js';
import { loadHtml } from './html.js';
import { loadJsonLines } from './json-lines.js';
import { loadNotebook } from './notebook.js';
import { loadOdt } from './odt.js';
import { loadPptx } from './pptx.js';
import { loadSubtitles } from './subtitles.js';
import { loadPdf } from './pdf/load-pdf.js';
import { textLoader } from './text.js';
import { loadXlsx } from './xlsx.js';

/** Format of files, by the extension of their names or their media type. */
export interface DocumentFormat {
  /** Names without the dot, in lower case, separated by spaces. */
  readonly extensions: string;
  /** Separated by spaces. `text/plain` is left out: servers send it for any text. */
  readonly mediaTypes?: string;
  readonly load: DocumentLoader;
  /** Whether the parser is the one of this package, or of the runtime, and takes linear time and memory. Default `false`. */
  readonly isLinear?: true;
}

/** Text whose extension is not known. */
const plainText: DocumentFormat = {
  extensions: 'txt text log yaml yml toml ini xml adoc org css sql sh bash env',
  load: textLoader('text'),
  isLinear: true,
};

const code: Readonly<Record<Exclude<CodeLanguage, 'markdown' | 'html'>, string>> = {
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

const openXml = 'application/vnd.openxmlformats-officedocument';

/** Every format. A new one is one entry here, the file of its loader, and one with several parts in the test of `partKeys`. */
export const formats: readonly DocumentFormat[] = [
  plainText,
  { extensions: 'md markdown mdx', mediaTypes: 'text/markdown', load: textLoader('markdown'), isLinear: true },
  {
    extensions: 'html htm xhtml',
    mediaTypes: 'text/html application/xhtml+xml',
    load: loadHtml,
    isLinear: true,
  },
  { extensions: 'json', mediaTypes: 'application/json', load: textLoader('json'), isLinear: true },
  {
    extensions: 'jsonl ndjson',
    mediaTypes: 'application/jsonl application/x-ndjson',
    load: loadJsonLines,
    isLinear: true,
  },
  { extensions: 'csv tsv', mediaTypes: 'text/csv text/tab-separated-values', load: loadCsv },
  { extensions: 'pdf', mediaTypes: 'application/pdf', load: loadPdf },
  { extensions: 'docx docm dotx', mediaTypes: `${openXml}.wordprocessingml.document`, load: loadDocx },
  { extensions: 'pptx pptm ppsx', mediaTypes: `${openXml}.presentationml.presentation`, load: loadPptx },
  { extensions: 'xlsx xlsm', mediaTypes: `${openXml}.spreadsheetml.sheet`, load: loadXlsx },
  { extensions: 'odt ott', mediaTypes: 'application/vnd.oasis.opendocument.text', load: loadOdt },
  { extensions: 'epub', mediaTypes: 'application/epub+zip', load: loadEpub },
  { extensions: 'eml', mediaTypes: 'message/rfc822', load: loadEmail },
  { extensions: 'ipynb', mediaTypes: 'application/x-ipynb+json', load: loadNotebook, isLinear: true },
  { extensions: 'srt vtt', mediaTypes: 'text/vtt application/x-subrip', load: loadSubtitles, isLinear: true },
  ...Object.entries(code).map(([language, extensions]) => ({
    extensions,
    load: textLoader('text', language as CodeLanguage),
    isLinear: true as const,
  })),
];

function indexBy(key: 'extensions' | 'mediaTypes'): ReadonlyMap<string, DocumentFormat> {
  return new Map(formats.flatMap((format) => (format[key] ?? '').split(' ').map((name) => [name, format] as const)));
}

const byExtension = indexBy('extensions');
const byMediaType = indexBy('mediaTypes');

/**
 * Returns the format of a file, or `undefined` for an unknown one. A known media type decides before the extension: the page
 * `/list.php` is HTML.
 *
 * @param name - path, file name or URL
 * @param mediaType - media type, for example the value of `Content-Type`
 */
export function findFormat(name: string, mediaType = ''): DocumentFormat | undefined {
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return (
    (type === '' ? undefined : byMediaType.get(type)) ??
    byExtension.get(extensionOf(name)) ??
    (type.startsWith('text/') ? plainText : undefined)
  );
}

/** Returns the extension of a path, a file name or a URL in lower case, without the dot; a space for a name without one. */
export function extensionOf(name: string): string {
  const path = /^https?:/i.test(name) ? name.replace(/[?#].*$/s, '') : name;
  const file = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  const dot = file.lastIndexOf('.');
  // The space is not part of any extension: a dot file such as `.env` has none.
  return dot <= 0 ? ' ' : file.slice(dot + 1).toLowerCase();
}
