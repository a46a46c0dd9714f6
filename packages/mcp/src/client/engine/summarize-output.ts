import { escapeForLog } from '@quiver/core';

/** Characters of a summary. The whole output is in the details of the error. */
const maxLength = 500;

/** Colors and other terminal control sequences. */
const controlSequence = new RegExp(String.raw`\u001b\[[\d;?]*[A-Za-z]`, 'g');
const pythonFrame = /^[\s|]*File ".*", line \d+/;
/** Lines without a reason: frames and trailers of stacks, remarks of npm, empty lines. */
const noise = [
  /^\s+at /,
  /^Node\.js v\d/,
  /^\(Use `node --/,
  pythonFrame,
  /Traceback \(/,
  /^The above exception was /,
  /^During handling of the above /,
  /^npm (?:warn|notice|WARN)\b/,
  /^npm (?:error|ERR!)(?: (?:code|syscall|path|dest|errno) .*| A complete log .*| \w+)?\s*$/,
  /^[\s|+-]*$/,
];
/** Start of a line that carries no meaning of its own: npm, the tree of a Python exception group, members of a Node error, causes in Java. */
const prefix =
  /^npm (?:error|ERR!)(?: \d{3}| [a-z]+(?= [A-Z]))? *|^[\s|+]*(?:\[(?:cause|errors)\]: |Caused by: )?(?:\[(?=\w*Rejection))?/;
/** Line that names an error and its reason, as uncaught errors of Node.js, Python, Java and .NET do: `TypeError: x is not a function`. */
const namedError =
  /^(?:Uncaught |Unhandled exception\. |Exception in thread "[^"]*" )?[\w.$]*(?:Error|Exception|ExceptionGroup|Rejection)\b[^:]{0,80}: ?\S/;
const mentionedError = /error|exception|fatal|panic/i;

/**
 * Returns the reason for a failure from the output of a program: the first and the last error that it names. Otherwise all of a short
 * output; of a long one the first line that mentions an error and the last line, or the beginning and the end.
 */
export function summarizeOutput(output: string): string {
  const lines = readLines(output);
  const named = lines.flatMap((line, index) => (namedError.test(line) ? [withContinuation(lines, index)] : []));
  if (named[0] !== undefined) return joinDistinct(named[0], named.at(-1) as string);
  const all = join(lines.length > 0 ? lines : output.split('\n').map((line) => line.trim()));
  if (all.length <= maxLength) return escapeForLog(all);
  const mentioned = lines.findIndex((line) => mentionedError.test(line));
  if (mentioned >= 0) return joinDistinct(withContinuation(lines, mentioned), lines.at(-1) as string);
  return escapeForLog(`${all.slice(0, maxLength / 2)} … ${all.slice(-maxLength / 2)}`);
}

function joinDistinct(first: string, last: string): string {
  if (first.includes(last)) return escapeForLog(cut(first));
  return escapeForLog(last.includes(first) ? cut(last) : `${cut(first, maxLength / 2)} | ${cut(last, maxLength / 2)}`);
}

/** Lines with a meaning, without indentation. */
function readLines(output: string): string[] {
  const lines = output.replaceAll(controlSequence, '').split(/\r?\n/);
  // Node.js and Python mark a position below a line of code. Node.js writes the file above that line.
  const isCode = (index: number): boolean =>
    isMark(lines[index + 1]) ||
    isMark(lines[index + 2]) ||
    (pythonFrame.test(lines[index - 1] ?? '') && /^[\s|]* {4}/.test(lines[index] as string));
  return lines
    .filter((line, index) => !(noise.some((pattern) => pattern.test(line)) || isMark(line) || isCode(index)))
    .map((line) => line.replace(prefix, '').trim());
}

function isMark(line: string | undefined): boolean {
  return line !== undefined && /^\s*~*\^[\^~]*\s*$/.test(line);
}

/** A line that ends with a colon or an opening bracket is incomplete without the next lines. */
function withContinuation(lines: readonly string[], index: number): string {
  const line = lines[index] as string;
  if (/[:[(]$|: ?\{$/.test(line)) return join(lines.slice(index));
  // Node.js writes the members of an error in braces.
  return line.replace(/ \{$/, '');
}

/** Joins lines to one. Sentences and data that continue in the next line stay together. */
function join(lines: readonly string[]): string {
  const parts: string[] = [];
  let last = '';
  for (const line of lines.filter(Boolean)) {
    const isContinued = '[({:,'.includes(last) || /^[\])}]/.test(line);
    parts.push(isContinued ? ' ' : ' | ', line);
    last = line.at(-1) as string;
  }
  return parts.join('').trimStart();
}

function cut(text: string, length = maxLength): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
