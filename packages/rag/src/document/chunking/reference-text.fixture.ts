import type { DefaultTreeAdapterTypes } from 'parse5';
import { tagKind } from '../html/html-tags.js';

/** The visible text of a node of parse5. */
export function referenceText(node: DefaultTreeAdapterTypes.Node): string {
  if ('value' in node) return node.value;
  if (tagKind(node.nodeName) === 'hidden') return '';
  return 'childNodes' in node ? node.childNodes.map(referenceText).join('') : '';
}
