import type { Separator } from './separator-cut.js';

/**
 * Patterns of the words with which declarations begin in each language, and of the marks of languages whose structure is in their
 * markup.
 */
const languages = {
  c: 'typedef|struct|union|enum|static|extern|inline|void|int|char|float|double|long|unsigned|#define|#if\\w*',
  cobol: '.{0,6} *(?:[\\w-]+ (?:DIVISION|SECTION)|\\w[\\w-]*)\\.',
  cpp: 'namespace|template|class|struct|union|enum|using|typedef|static|extern|inline|virtual|void|int|bool|auto|public|protected|private',
  csharp:
    'namespace|using|public|protected|private|internal|static|abstract|sealed|class|interface|struct|record|enum|delegate',
  elixir: 'defmodule|defprotocol|defimpl|defmacrop?|defstruct|defp?|@doc|@moduledoc',
  go: 'func|type|var|const|import',
  haskell: "module|import|data|newtype|type|class|instance|infix[lr]?|\\w+'* *::",
  html: '<(?:body|header|nav|main|footer|aside|article|section|h[1-6]|div|p|ul|ol|dl|table|tr|li|form|pre|blockquote)\\b',
  java: 'package|import|public|protected|private|static|abstract|final|class|interface|enum|record|@interface',
  js: 'export|import|(?:async )?function|class|const|let|var|static|get|set',
  kotlin:
    'package|import|public|internal|protected|private|open|abstract|data|sealed|enum|class|interface|object|(?:suspend )?fun|val|var|typealias',
  latex: '\\\\(?:part|chapter|(?:sub){0,2}section|(?:sub)?paragraph|begin|item)\\b',
  lua: 'local|function|return',
  markdown: '#{1,6} |```|~~~|[*+-] |\\d+[.)] |> ',
  perl: 'package|use|sub|our|my|BEGIN|END|=head\\d',
  php: 'namespace|use|abstract|final|class|interface|trait|enum|public|protected|private|static|function|const',
  powershell: 'function|filter|class|enum|param|begin|process|end|workflow',
  proto: 'syntax|package|import|option|message|service|enum|extend|oneof|rpc',
  python: 'class|def|async def|@\\w|if __name__',
  rst: '\\.\\. [\\w-]+::|[=\\-~^"\'`#*+.]{3,}\\s*$',
  ruby: 'module|class|def|attr_\\w+|private|protected|public|describe|context|it',
  rust: 'pub|use|mod|fn|async fn|unsafe fn|const|static|struct|enum|trait|impl|type|macro_rules!|#\\[',
  scala:
    'package|import|sealed|abstract|final|implicit|override|private|protected|case class|class|trait|object|enum|given|def|val|var|type',
  sol: 'pragma|import|using|abstract|contract|interface|library|struct|enum|event|error|modifier|constructor|function|mapping',
  swift:
    'import|public|internal|open|private|fileprivate|static|final|class|struct|enum|protocol|extension|actor|func|init|var|let',
  ts: 'export|import|declare|namespace|abstract|interface|type|enum|(?:async )?function|class|const|let|var|public|protected|private|static|readonly|get|set',
};

/** A language that the `recursive` strategy knows how to cut. */
export type CodeLanguage = keyof typeof languages;

/** The languages that the `recursive` strategy knows. */
export const codeLanguages: readonly CodeLanguage[] = Object.keys(languages) as CodeLanguage[];

/**
 * Where to cut source code, best first: before a blank line that closes everything open, which leaves comments and decorators
 * with what they belong to; before a declaration that is not indented; at any blank line; before any declaration; between
 * lines, words, characters.
 */
export function codeSeparators(language: CodeLanguage): readonly Separator[] {
  const pattern = languages[language];
  const declaration = `(?:${pattern})${/\w[)?]*$/.test(pattern) ? String.raw`(?![\w-])` : ''}`;
  const flags = language === 'powershell' ? 'gmi' : 'gm';
  return [
    /\n[ \t]*\r?\n(?=[^\s)\]}])/g,
    new RegExp(`^(?=${declaration})`, flags),
    /\n[ \t]*\r?\n/g,
    new RegExp(`^(?=[ \\t]+${declaration})`, flags),
    '\n',
    ' ',
    '',
  ];
}
