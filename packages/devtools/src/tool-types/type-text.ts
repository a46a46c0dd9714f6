import { escapeForLog } from '@quiver/core';

/** Text of a TypeScript type, and what decides whether it needs parentheses. */
export interface TypeText {
  readonly text: string;
  readonly kind: 'single' | 'union' | 'intersection';
}

export const unknownType: TypeText = single('unknown');
export const neverType: TypeText = single('never');

export function single(text: string): TypeText {
  return { text, kind: 'single' };
}

/** Joins alternatives. `unknown` includes all others, and `never` none. */
export function union(types: readonly TypeText[]): TypeText {
  const texts = new Map(types.map((type) => [type.text, type]));
  texts.delete(neverType.text);
  if (texts.has(unknownType.text)) return unknownType;
  return join([...texts.values()], 'union', ' | ') ?? neverType;
}

/** Joins conditions that hold at once. `unknown` is not a condition, and `never` excludes every value. */
export function intersection(types: readonly TypeText[]): TypeText {
  const texts = new Map(types.map((type) => [type.text, type]));
  texts.delete(unknownType.text);
  if (texts.has(neverType.text)) return neverType;
  return join([...texts.values()], 'intersection', ' & ') ?? unknownType;
}

export function arrayOf(item: TypeText): TypeText {
  return single(`${operand(item)}[]`);
}

function join(types: readonly TypeText[], kind: 'union' | 'intersection', separator: string): TypeText | undefined {
  if (types.length < 2) return types[0];
  return { text: types.map((type) => operand(type, kind)).join(separator), kind };
}

/** Returns the text of a type as a part of another one. @param kind - of the other one */
export function operand(type: TypeText, kind?: TypeText['kind']): string {
  return type.kind === 'single' || type.kind === kind ? type.text : `(${type.text})`;
}

/** Returns a text as a string literal. */
export function quote(text: string): string {
  return escapeForLog(JSON.stringify(text));
}

/** Returns the name of a property, quoted where needed. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

/** Returns the letters and digits of a text as a name of a type, `''` if it has none. */
export function pascalCase(text: string): string {
  const words = text.slice(0, maxNameSource).match(/[A-Za-z0-9]+/g) ?? [];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

const maxNameSource = 60;
const maxLines = 40;
const maxLineLength = 500;

/** Returns texts as a comment with a line break at its end, `''` without text. */
export function docComment(texts: readonly (string | undefined)[], indent: string): string {
  const lines = texts.flatMap((text) => text?.trim().split(/\r\n|[\n\r\u2028\u2029]/) ?? []).map(toCommentLine);
  const shown = lines.slice(0, maxLines);
  if (lines.length > maxLines) shown.push('…');
  if (shown.join('') === '') return '';
  if (shown.length === 1) return `${indent}/** ${shown[0]} */\n`;
  return `${indent}/**\n${shown.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** A line that cannot end the comment, and that the compiler does not read as a directive. */
function toCommentLine(line: string): string {
  const cut = line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line;
  return escapeForLog(cut.replaceAll('\t', ' ').trimEnd())
    .replaceAll('*/', '*\\/')
    .replaceAll(/@(?=ts-)/g, '@ ');
}
