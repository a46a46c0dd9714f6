import type { SkippedText } from '@quiver/rag/document';
import { partsOfLines, toLines, type Line } from './line-parts.js';

/** Line before a quoted mail, in the languages of common programs. */
const attribution =
  /^(?:On|Am|Le|El|Il|Op|Em|Den|W dniu)\b.{5,300}\b(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|schreef|escreveu|skrev|napisał\(a\)|napisał):?$/i;
const original = /^-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original)\s*-{2,}$/i;
const outlookHeader = /^(?:From|Von|De|Da|Van|Från|Od) ?: .+$/i;
const outlookNext =
  /^(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado(?: el)?|Enviada em|Inviato|Verzonden|Skickat|Wysłano|To|An|À|A|Aan|Para|Till|Do) ?: .+$/i;
const signature = /^--\s?$/;
const device = /^(?:Sent from my |Get Outlook for |Von meinem .{2,40} gesendet|Envoyé de mon )/i;
const notice =
  /\b(?:confidential|intended (?:only |solely )?for|intended recipient|privileged|received this (?:e-?mail|message) in error|vertraulich|confidentiel|unsubscribe)\b/i;
/** Notices are among the last paragraphs. */
const lastParagraphs = 3;
const leastNotice = 60;

/**
 * Returns the parts of a mail that are not its own text: quoted mails, the signature, and notices such as those on confidentiality. A mail that
 * only consists of them has no such parts.
 */
export function findMailParts(text: string): SkippedText[] {
  const lines = toLines(text);
  const kinds = kindsOf(lines);
  markNotices(lines, kinds);
  const hasOwn = lines.some((line, index) => kinds[index] === undefined && line.text.trim() !== '');
  return hasOwn ? partsOfLines(lines, kinds) : [];
}

function kindsOf(lines: readonly Line[]): (string | undefined)[] {
  const kinds: (string | undefined)[] = lines.map(() => undefined);
  let rest: string | undefined;
  for (const [index, { text }] of lines.entries()) {
    const next = lines[index + 1]?.text ?? '';
    if (original.test(text) || (index > 0 && outlookHeader.test(text) && outlookNext.test(next))) rest = 'quoted';
    else if (rest === undefined && signature.test(text)) rest = 'signature';
    kinds[index] = text.startsWith('>') ? 'quoted' : (rest ?? (device.test(text) ? 'signature' : undefined));
  }
  for (const [index, { text }] of lines.entries()) {
    // Its line may be broken before the quote.
    const broken = `${text} ${lines[index + 1]?.text ?? ''}`.trim();
    const isBroken = !attribution.test(text) && attribution.test(broken);
    if (!isBroken && !attribution.test(text)) continue;
    const last = isBroken ? index + 1 : index;
    const next = [1, 2, 3].map((distance) => last + distance).find((at) => lines[at]?.text.trim());
    if (next === undefined) continue;
    if (kinds[next] === 'quoted') kinds.fill('quoted', index, last + 1);
    // Programs that put the answer above quote the whole rest, without marks.
    else if (!kinds.includes('quoted', next)) {
      kinds.fill('quoted', index);
      break;
    }
  }
  return kinds;
}

function markNotices(lines: readonly Line[], kinds: (string | undefined)[]): void {
  let end = lines.length;
  for (let count = 0; count < lastParagraphs && end > 0; count += 1) {
    while (end > 0 && lines[end - 1]!.text.trim() === '') end -= 1;
    let start = end;
    while (start > 0 && lines[start - 1]!.text.trim() !== '') start -= 1;
    const paragraph = lines.slice(start, end).map(({ text }) => text);
    if (paragraph.join(' ').length >= leastNotice && notice.test(paragraph.join(' ')) && kinds[start] === undefined)
      kinds.fill('notice', start, end);
    end = start;
  }
}
