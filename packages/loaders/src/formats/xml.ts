import { Parser } from 'htmlparser2';
import { markedEncoding } from './decode-text.js';
import { limitExceeded, unreadableDocument } from './document-loader.js';

/** The parser takes quadratic time for deep nesting. */
const maxDepth = 10_000;

/** Handlers of a document's events, with names without their namespace prefix. */
export interface XmlHandlers {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(data: string): void;
  close?(name: string): void;
}

/**
 * Reads XML in UTF-8 or UTF-16. Only the predefined entities and numeric references are decoded; document type definitions and
 * external references are ignored.
 *
 * @throws `DOCUMENT_UNREADABLE` for XML that ends early; `DOCUMENT_LIMIT_EXCEEDED` for elements nested more than 10,000 deep
 */
export function readXml(bytes: Uint8Array, name: string, { open, text, close }: XmlHandlers): void {
  let depth = 0;
  let isComplete = false;
  const parser = new Parser(
    {
      onopentagname() {
        depth += 1;
        if (depth > maxDepth) {
          const problem = `its elements are nested more than ${maxDepth} deep`;
          throw limitExceeded(name, problem, { limit: 'nesting', max: maxDepth });
        }
      },
      onopentag(qualified, attributes) {
        open?.(localName(qualified), attributes);
      },
      ontext: (data) => text?.(data),
      onclosetag(qualified, isImplied) {
        depth -= 1;
        if (depth === 0 && !isImplied) isComplete = true;
        close?.(localName(qualified));
      },
    },
    { xmlMode: true },
  );
  parser.end(decodeXml(bytes));
  if (!isComplete) throw unreadableDocument(name, 'its XML ends early.');
}

/** Decodes UTF-16 by its byte order mark, otherwise UTF-8. */
export function decodeXml(bytes: Uint8Array): string {
  return new TextDecoder(markedEncoding(bytes)).decode(bytes);
}

/** Returns an attribute by its name without the prefix: producers choose prefixes freely. */
export function attribute(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  if (Object.hasOwn(attributes, name)) return attributes[name];
  const key = Object.keys(attributes).find((key) => localName(key) === name);
  return key === undefined ? undefined : attributes[key];
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Returns the path in an archive to which a reference in one of its files leads, without the fragment. */
export function resolvePath(from: string, reference: string): string {
  try {
    return decodeURIComponent(new URL(reference, `file:///${from}`).pathname.slice(1));
  } catch {
    return '';
  }
}
