import { endOfWhiteSpace, startOfWhiteSpace } from './text-boundary.js';

/**
 * Strength of the bond between the texts before and behind a cut. `strong`: the first means nothing at the end of a chunk, such as a term
 * before its definition. `weak`: the second explains the first, such as a note.
 */
export const Bond = { none: 0, weak: 1, strong: 2 } as const;
export type Bond = (typeof Bond)[keyof typeof Bond];

const longestLine = 200;
const longestTerm = 80;
/** Number of terms that share a definition. */
const mostTerms = 3;

/** A text around a cut: its last line before, its first line behind, and whether blank lines are between them. */
interface Edge {
  readonly before: string;
  /** Whether a blank line, or nothing, is before the first of both lines. */
  readonly isAlone: boolean;
  readonly behind: string;
  readonly isBlankBetween: boolean;
  /** Whether the second line is indented more than the first. */
  readonly isDeeper: boolean;
}

/** Returns what a cut between two lines, or in a line, would separate. */
export function findBond(text: string, cut: number): Bond {
  const end = startOfWhiteSpace(text, 0, cut);
  const start = endOfWhiteSpace(text, cut, text.length);
  if (!text.slice(end, start).includes('\n')) return isInTableRule(text, cut) ? Bond.strong : Bond.none;
  return end === 0 || start === text.length ? Bond.none : bondOf(text, readEdge(text, end, start), start);
}

function readEdge(text: string, end: number, start: number): Edge {
  const head = text.slice(Math.max(0, end - longestLine), end);
  const lineAt = head.lastIndexOf('\n') + 1;
  const isWhole = lineAt > 0 || end <= longestLine;
  const between = text.slice(end, start);
  const indent = between.length - 1 - between.lastIndexOf('\n');
  const before = head.slice(lineAt);
  return {
    before: before.trimStart(),
    isAlone: isWhole && (lineAt === 0 || /\n[ \t\r]*\n$/.test(head.slice(0, lineAt))),
    behind: lineFrom(text, start),
    isBlankBetween: between.indexOf('\n') !== between.lastIndexOf('\n'),
    isDeeper: isWhole && indent > before.length - before.trimStart().length,
  };
}

function lineFrom(text: string, start: number): string {
  const line = text.slice(start, start + longestLine);
  const end = line.indexOf('\n');
  return (end === -1 ? line : line.slice(0, end)).trimEnd();
}

function bondOf(text: string, edge: Edge, start: number): Bond {
  const { before, behind } = edge;
  if (leadIn.test(before) || isTableRule(before) || isTableRule(behind) || definition.test(behind)) return Bond.strong;
  if (caption.test(before) && figureStart.test(behind)) return Bond.strong;
  if (isTermOf(text, edge, start, 1)) return Bond.strong;
  return note.test(behind) || (caption.test(behind) && figureEnd.test(before)) ? Bond.weak : Bond.none;
}

/** Whether the line before the cut is a term, and what is behind it its definition, or a further term of the same definition. */
function isTermOf(text: string, edge: Edge, start: number, terms: number): boolean {
  const { before, behind, isAlone, isBlankBetween, isDeeper } = edge;
  if (!isTerm(before)) return false;
  if (isDeeper) return true;
  if (!isBlankBetween || !isAlone) return false;
  if (!isTerm(behind)) return true;
  const end = start + behind.length;
  const next = endOfWhiteSpace(text, end, text.length);
  return terms < mostTerms && next < text.length && isTermOf(text, readEdge(text, end, next), next, terms + 1);
}

/** Whether a line is short, and neither a sentence nor a part of a list, a table or a picture. */
function isTerm(line: string): boolean {
  return line.length <= longestTerm && /[\p{L}\p{N}]/u.test(line) && !notTerm.test(line) && !sentenceEnd.test(line);
}

/** `| --- | :-: |`, or the part of it that was read. */
function isTableRule(line: string): boolean {
  return line.includes('-') && line.includes('|') && /^[|:\- \t]*$/.test(line);
}

function isInTableRule(text: string, cut: number): boolean {
  return isTableRule(text.slice(Math.max(0, cut - 4), cut + 4));
}

const leadIn = /[:：][*_"')\]]*$/;
const sentenceEnd = /[.!?…,;。！？][*_"')\]]*$/;
/** List items, tables, quotations, HTML, pictures and fences. */
const notTerm = /^(?:[-*+]\s|\d{1,9}[.)]\s|[|><]|!\[|\[!|```|~~~)|\|$|\t/;
const definition = /^:\s/;
const note =
  /^(?:>\s*)?(?:\[!|[*_]*(?:note|notes|nb|n\.b\.|warning|caution|important|tip|hint|danger|attention|hinweis|achtung|warnung|remarque|nota)\b[*_]*\s*(?:[:!.]|$))/i;
const caption = /^[*_]*(?:table|figure|fig\.|listing|example|tabelle|tab\.|abbildung|abb\.|tableau|tabla|figura)\s*\d/i;
const figureStart = /^(?:\||!\[|<img|<table|```|~~~)|\s\|\s|\t/;
const figureEnd = /\|$|^!\[|^(?:```|~~~)|\s\|\s|\t/;
