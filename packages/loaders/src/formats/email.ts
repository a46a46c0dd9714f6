import {
  limitExceeded,
  toSkippedFile,
  unreadableDocument,
  type DocumentLoader,
  type LoadedDocument,
} from './document-loader.js';
import { htmlToMarkdown } from '@quiver/rag/document';
import { findMailParts } from '../structure/mail-parts.js';

/** Headers whose presence shows that a file is an email: the parser accepts any bytes. */
const emailHeaders: ReadonlySet<string> = new Set(['from', 'to', 'subject', 'date', 'message-id', 'received']);

/** Number of emails in an email. The parser reads the innermost one once for each level. */
const maxEmails = 1000;
const emailPart = /^content-type:\s*message\/rfc822/gim;

/**
 * Reads an email through `postal-mime`: its text, or its HTML as Markdown, with `subject`, `from`, `to`, `date` and the names of its
 * `attachments`. Attachments of known formats are further documents with the same metadata and their name as `attachment`.
 */
export const loadEmail: DocumentLoader = async (bytes, options) => {
  const { name, loadPart, onSkip, signal } = options;
  const { default: PostalMime } = await import('postal-mime');
  const emails = new TextDecoder('latin1').decode(bytes).match(emailPart)?.length ?? 0;
  if (emails > maxEmails) {
    const problem = `it contains ${emails} emails, and the limit is ${maxEmails}`;
    throw limitExceeded(name, problem, { limit: 'emails', max: maxEmails, value: emails });
  }
  const email = await PostalMime.parse(bytes);
  if (!email.headers.some(({ key }) => emailHeaders.has(key)))
    throw unreadableDocument(name, 'it has none of the headers of an email.');
  const { subject, from, to, date } = email;
  const attachments = email.attachments.filter(({ related }) => !related);
  const names = attachments.map(({ filename }, index) => filename ?? `attachment-${index + 1}`);
  // The first mail of a thread has no prefix.
  const title = subject?.replace(/^(?:\s*(?:re|fwd?|aw|wg|antw|sv|vs|tr)(?:\[\d+\])?:)+\s*/i, '');
  const headers = { title, subject, from: from && toText(from), to: to?.map(toText).join(', '), date };
  const metadata = Object.fromEntries(Object.entries(headers).filter(([, value]) => value));
  const isHtml = !email.text?.trim() && email.html !== undefined;
  const body = isHtml ? htmlToMarkdown(email.html ?? '', { name }).text : (email.text ?? '').trim();
  // Often the subject has the words that the body only refers to.
  const start = subject ? `Subject: ${subject}${body === '' ? '' : '\n\n'}` : '';
  const text = start + body;
  const skip = findMailParts(body).map((part) => ({
    ...part,
    start: part.start + start.length,
    end: part.end + start.length,
  }));
  const docs =
    text === '' ? [] : [{ text, skip, metadata: { ...metadata, ...(names.length > 0 && { attachments: names }) } }];
  const documents: LoadedDocument[] = [{ type: isHtml ? 'markdown' : 'text', docs }];
  for (const [index, { content, mimeType }] of attachments.entries()) {
    signal?.throwIfAborted();
    const attachment = names[index]!;
    try {
      const part = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
      for (const document of await loadPart(part, { name: attachment, mediaType: mimeType })) {
        documents.push({
          ...document,
          docs: document.docs.map((doc) => ({ ...doc, metadata: { ...metadata, attachment, ...doc.metadata } })),
        });
      }
    } catch (error) {
      signal?.throwIfAborted();
      onSkip(toSkippedFile(`${name}#${attachment}`, error));
    }
  }
  return documents;
};

function toText({ name, address }: { name: string; address?: string | undefined }): string {
  return name !== '' && address ? `${name} <${address}>` : (address ?? name);
}
