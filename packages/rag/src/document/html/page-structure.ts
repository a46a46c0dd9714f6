import { QuiverError } from '@quiver/core';
import { Parser, type ParserOptions } from 'htmlparser2';
import { headingLevel, tagKind } from './html-tags.js';

/** The parser takes quadratic time for deep nesting; browsers stop at 512. */
const maxParserDepth = 10_000;

/** Metadata from the head of a page. */
export interface PageHead {
  title?: string;
  canonical?: string;
  base?: string;
  description?: string;
  language?: string;
}

/** Kind of an element that is not searched, as in `SkippedText`; `mark`: not even written, such as the `¶` behind a heading. */
export type RegionKind = 'navigation' | 'contents' | 'notice' | 'mark';

/** Elements that are not searched. */
export type PageRegions = ReadonlyMap<PageElement, RegionKind>;

/** A start tag, a text, or the end of the element that is open. */
export type PageEvent = PageElement | string | undefined;

/** Content of an element. Numbers of characters are without white space. */
export interface PageElement {
  readonly parent: PageElement | undefined;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly hint: Hint | undefined;
  readonly isMain: boolean;
  /** Whether it is inside an article or a section, whose header and footer are content. */
  readonly isInside: boolean;
  text: number;
  linked: number;
  links: number;
  headings: number;
  titles: number;
  hasCode: boolean;
}

/** `sure`: by its element or role. `likely`: by its class, if its text agrees. */
interface Hint {
  readonly kind: RegionKind;
  readonly strength: 'sure' | 'likely';
}

const sureElements: ReadonlySet<string> = new Set(['nav', 'menu']);
const sureRoles: ReadonlySet<string> = new Set(
  'navigation banner contentinfo search menu menubar tablist doc-pagelist'.split(' '),
);
const controls: ReadonlySet<string> = new Set(['button', 'select', 'dialog', 'textarea', 'datalist']);

/** Words of class names and ids, in lower case. */
const words = {
  navigation:
    'nav navbar navpath tabs header navheader navfooter navpanel navigation navrow sidebar sidenav sidebarwrapper sphinxsidebar breadcrumb breadcrumbs crumbs menu menubar topnav bottomnav subnav pagination pager footer related skip skiplink skipnav search searchbox prevnext prev pagenav editlink headnav',
  contents: 'toc toctree contents shortcontents tableofcontents directory summary indextable',
  notice: 'cookie cookies consent newsletter banner copyright',
} as const;
const kindOfWord: ReadonlyMap<string, keyof typeof words> = new Map(
  (['navigation', 'contents', 'notice'] as const).flatMap((kind) => words[kind].split(' ').map((word) => [word, kind])),
);

const markClass =
  /(?:^|\s)(?:headerlink|header-anchor|hash-link|heading-anchor|permalink|anchorjs-link|copiable-link|copiable-anchor|viewcode-link|viewcode-back|mw-editsection|direct-link|sr-only|visually-hidden)(?:$|\s)/i;
const markText = /^[¶#§🔗⚓∞\s]+$/u;

const contentElements: ReadonlySet<string> = new Set(['article', 'main', 'section', 'blockquote', 'li']);
const lists: ReadonlySet<string> = new Set(['ul', 'ol', 'dl', 'table', 'div']);
const indexTitle = /\b(?:index|contents|site map|sitemap|all classes)\b/i;

/** Shares of the text of a page. Chosen by judgment, not optimized; the generators in the tests check them. */
const shares = {
  /** Main content has at least this share. */
  main: 0.2,
  /** Largest share of a part that is only likely to be navigation. */
  likely: 0.5,
  /** A list of links that is not the page itself has at most this share. */
  list: 0.7,
};

/** Shares of an element's text that is in links. */
const densities = { navigation: 0.3, contents: 0.6, notice: 0, mark: 0, list: 0.85 };

/** Text up to this length, without a heading, agrees with any hint. */
const shortText = 80;
const fewestLinks = 8;
/** A page with less text than this is searched as a whole. */
const leastText = 30;

/**
 * Reads what a page is made of: its head, and the elements that are navigation, contents or notices. They are known by their element, role
 * or class, or because they are outside of the main content, or consist of links. Runs in linear time.
 *
 * @returns also the `events` of the parser, because another run of it takes twice the time of writing the page
 * @throws `HTML_TOO_DEEP`
 */
export function readPageStructure(
  html: string,
  name: string,
  options: ParserOptions = {},
): { head: PageHead; events: readonly PageEvent[]; regions: PageRegions } {
  const head: PageHead = {};
  const events: PageEvent[] = [];
  const elements: PageElement[] = [];
  const marks = new Map<PageElement, RegionKind>();
  const root = createElement(undefined, '', {});
  let open = root;
  let hidden = 0;
  let depth = 0;
  let title: string[] | undefined;
  let link: { element: PageElement; text: string } | undefined;
  const parser = new Parser(
    {
      onopentag(element, attributes) {
        depth += 1;
        if (depth > maxParserDepth)
          throw new QuiverError(
            'HTML_TOO_DEEP',
            `The elements of ${name} are nested more than ${maxParserDepth} deep. Check that it is HTML, or chunk it as text.`,
          );
        readHeadElement(head, element, attributes);
        if (element === 'title' && head.title === undefined) title = [];
        if (tagKind(element) === 'hidden') hidden += 1;
        open = createElement(open, element, attributes);
        events.push(open);
        elements.push(open);
        if (isMark(element, attributes)) marks.set(open, 'mark');
        if (element === 'a') link = { element: open, text: '' };
        open.headings += headingLevel(element) === undefined ? 0 : 1;
        open.titles += element === 'h1' ? 1 : 0;
        open.hasCode ||= element === 'pre';
      },
      ontext(text) {
        events.push(text);
        title?.push(text);
        if (hidden > 0) return;
        const length = visibleLength(text);
        open.text += length;
        if (!link) return;
        open.linked += length;
        if (link.text.length < 10) link.text += text;
      },
      onclosetag(element) {
        depth -= 1;
        if (tagKind(element) === 'hidden') hidden = Math.max(0, hidden - 1);
        if (element === 'title' && title) {
          head.title ??= squeeze(title.join('')) ?? '';
          title = undefined;
        }
        if (element === 'a' && link) {
          if (markText.test(link.text) || isParagraphNumber(link)) marks.set(link.element, 'mark');
          link.element.links += 1;
          link = undefined;
        }
        const { parent } = open;
        if (!parent) return;
        events.push(undefined);
        addTo(parent, open);
        open = parent;
      },
    },
    options,
  );
  parser.end(html);
  return { head, events, regions: findRegions(root, elements, marks, head.title) };
}

function createElement(
  parent: PageElement | undefined,
  name: string,
  attributes: Readonly<Record<string, string>>,
): PageElement {
  const isInside = parent !== undefined && (parent.isInside || contentElements.has(parent.name));
  return {
    parent,
    name,
    attributes,
    hint: hintOf(name, attributes, isInside),
    isMain: name === 'main' || attributes['role'] === 'main' || attributes['itemprop'] === 'articleBody',
    isInside,
    text: 0,
    linked: 0,
    links: 0,
    headings: 0,
    titles: 0,
    hasCode: false,
  };
}

function hintOf(name: string, attributes: Readonly<Record<string, string>>, isInside: boolean): Hint | undefined {
  if (sureElements.has(name) || sureRoles.has(attributes['role'] ?? ''))
    return { kind: 'navigation', strength: 'sure' };
  if (!isInside && (name === 'header' || name === 'footer')) return { kind: 'navigation', strength: 'sure' };
  const { class: classes = '', id = '' } = attributes;
  // The id of a section may come from the words of its heading.
  const named = `${classes} ${name === 'section' ? '' : id}`;
  if (named === ' ') return undefined;
  for (const word of named.split(/[\s_-]+|(?<=[a-z])(?=[A-Z])/)) {
    const kind = kindOfWord.get(word.toLowerCase());
    if (kind !== undefined) return { kind, strength: 'likely' };
  }
  return undefined;
}

function isMark(name: string, attributes: Readonly<Record<string, string>>): boolean {
  if (controls.has(name) || markClass.test(attributes['class'] ?? '')) return true;
  return attributes['aria-hidden'] === 'true' && (name === 'a' || name === 'span');
}

/** The number that SiSU writes in a `label` before each paragraph, with a link to it. */
function isParagraphNumber({ element, text }: { element: PageElement; text: string }): boolean {
  return element.parent?.name === 'label' && /^\s*\d+\s*$/.test(text);
}

function readHeadElement(head: PageHead, name: string, attributes: Readonly<Record<string, string>>): void {
  const { rel = '', href, content = '', lang = '' } = attributes;
  const set = (key: keyof PageHead, value: string | undefined): void => {
    if (value !== undefined) head[key] ??= value;
  };
  if (name === 'html') set('language', squeeze(lang));
  else if (name === 'base') set('base', href);
  else if (name === 'link' && rel.toLowerCase() === 'canonical') set('canonical', href);
  else if (name === 'meta' && attributes['name']?.toLowerCase() === 'description') set('description', squeeze(content));
}

function addTo(parent: PageElement, child: PageElement): void {
  for (const count of ['text', 'linked', 'links', 'headings', 'titles'] as const) parent[count] += child[count];
  parent.hasCode ||= child.hasCode;
}

function findRegions(page: PageElement, elements: readonly PageElement[], marks: PageRegions, title = ''): PageRegions {
  const regions = new Map(marks);
  const isIndex = indexTitle.test(title);
  const main = mainOf(page, elements);
  const path = new Set<PageElement | undefined>();
  for (let element = main; element; element = element.parent) path.add(element);
  const covered = new Set<PageElement | undefined>();
  let skipped = 0;
  for (const element of elements) {
    if (covered.has(element.parent)) covered.add(element);
    if (covered.has(element) || path.has(element) || element.text === 0) continue;
    // A heading that links back to the contents of the page.
    if (headingLevel(element.parent?.name ?? '') !== undefined) continue;
    const isOutside = main !== undefined && element.parent !== main && path.has(element.parent);
    const hasTitle = element.titles > 0 && element.titles === page.titles;
    const kind = isOutside
      ? 'navigation'
      : (hintedKind(element, page) ?? (isLinkList(element, page, isIndex) ? 'contents' : undefined));
    if (kind === undefined || (hasTitle && kind === 'navigation')) continue;
    covered.add(element);
    regions.set(element, kind);
    skipped += element.text;
  }
  return page.text - skipped < leastText && !isIndex ? marks : regions;
}

function mainOf(page: PageElement, elements: readonly PageElement[]): PageElement | undefined {
  let main: PageElement | undefined;
  for (const element of elements) if (element.isMain && element.text > (main?.text ?? 0)) main = element;
  return main && main.text >= shares.main * page.text ? main : undefined;
}

/** Returns the kind that its name, role or class gives to an element, if its content agrees. */
function hintedKind({ hint, text, linked, headings, hasCode }: PageElement, page: PageElement): RegionKind | undefined {
  if (!hint) return undefined;
  const { kind, strength } = hint;
  if (strength === 'sure') return kind;
  if (text > shares.likely * page.text || hasCode) return undefined;
  const isShort = text <= shortText && headings === 0;
  return isShort || linked >= densities[kind] * text ? kind : undefined;
}

function isLinkList({ name, text, linked, links }: PageElement, page: PageElement, isIndex: boolean): boolean {
  if (!lists.has(name) || links < fewestLinks || linked < densities.list * text) return false;
  return isIndex || text <= shares.list * page.text;
}

function visibleLength(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0x20 && unit !== 0xa0) length += 1;
  }
  return length;
}

function squeeze(text: string): string | undefined {
  return text.replace(/\s+/g, ' ').trim() || undefined;
}
