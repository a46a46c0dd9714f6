import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLanguage, type Language, languages } from './languages.js';
import { lexicalTerms } from '../lexical-terms.js';
import { Bm25Index } from '../bm25-index.js';
import { KeywordIndex, loadAnalyzer, type TermAnalyzer, toAnalyzerId, toQueryTerms } from './term-analyzer.js';

async function termsIn(language: string, text: string): Promise<string[]> {
  const analyzer = await loadAnalyzer(toAnalyzerId(language));
  await analyzer.load([analyzer.languageOf(text)]);
  return analyzer.toTerms(text, analyzer.languageOf(text));
}

describe('terms of names and numbers', () => {
  it.each([
    ['C', ['c']],
    ['C++ and C#', ['c++', 'c#']],
    ['written in C, not in Go', ['written', 'c', 'go']],
    ['v1.2.3', ['1.2.3']],
    ['1.2.3', ['1.2.3']],
    ['release 10.2.3-beta.1', ['releas', '10.2.3', '10', 'beta']],
    ['E-1042', ['1042', 'e1042']],
    ['E1042', ['1042', 'e1042']],
    ['maxTokens', ['maxtoken', 'max', 'token']],
    ['max_tokens', ['maxtokens', 'max', 'token']],
    ['XMLHttpRequest', ['xmlhttprequest', 'xml', 'http', 'request']],
    ['J. Smith’s PDFs', ['smith', 'pdf']],
    ["it's state-of-the-art", ['state', 'art']],
    ['', []],
  ])('are %j → %j', async (text, terms) => {
    expect((await termsIn('en', text)).toSorted()).toEqual(terms.toSorted());
  });

  it('are shared by the spellings of a name', async () => {
    const shared = async (a: string, b: string): Promise<boolean> => {
      const other = new Set(await termsIn('en', b));
      return (await termsIn('en', a)).some((term) => other.has(term));
    };
    for (const [a, b] of [
      ['E-1042', 'E1042'],
      ['max_tokens', 'maxTokens'],
      ['COVID-19', 'covid19'],
      ['v2.0', 'V2.0'],
    ] as const)
      expect(await shared(a, b), `${a} ${b}`).toBe(true);
    expect(await shared('C', 'C++')).toBe(false);
    expect(await shared('C#', 'C++')).toBe(false);
  });
});

describe('terms of a language', () => {
  it.each([
    ['de', 'die Häuser', 'Haus'],
    ['de', 'Straße', 'STRASSE'],
    ['de', 'Hausverwaltung', 'Haus'],
    ['de', 'Krankenversicherung', 'Versicherung'],
    ['fr', 'les maisons', 'maison'],
    ['es', 'informaciones', 'información'],
    ['it', 'le case', 'casa'],
    ['pt', 'informações', 'informação'],
    ['ro', 'cărților', 'carte'],
    ['nl', 'fietsen', 'fiets'],
    ['da', 'husene', 'hus'],
    ['no', 'husene', 'hus'],
    ['sv', 'flickorna', 'flickor'],
    ['fi', 'taloissa', 'talossa'],
    ['hu', 'házakban', 'házak'],
    ['tr', 'İSTANBUL kitaplar', 'istanbul kitap'],
    ['pl', 'książki', 'książka'],
    ['ru', 'ёлки', 'елка'],
    ['ru', 'docker контейнеры', 'контейнер'],
    ['uk', 'книги', 'книгами'],
    ['bg', 'книгите', 'книга'],
    ['bg', 'учениците', 'ученик'],
    ['bg', 'случаеве', 'случай'],
    ['el', 'άνθρωποι', 'ΑΝΘΡΩΠΟΣ'],
    ['ar', 'كِتَابٌ', 'الكتاب'],
    ['ar', 'أحمد', 'احمد'],
    ['hi', 'पुस्तकों', 'पुस्तक'],
    ['zh', '机器学习方法', '机器学习'],
    ['ja', '東京都', '東京'],
    ['ko', '한국어로', '한국어'],
  ])('connect in %s: %s, %s', async (language, text, query) => {
    const terms = new Set(await termsIn(language, text));
    const found = (await termsIn(language, query)).filter((term) => terms.has(term));
    expect(found).not.toEqual([]);
  });

  it('keep the tones of Vietnamese, and are words of Thai', async () => {
    expect(await termsIn('vi', 'Má mà mả')).toEqual(['má', 'mà', 'mả']);
    expect(await termsIn('th', 'ประเทศไทยมีกรุงเทพ')).toEqual(['ประเทศไทย', 'มี', 'กรุงเทพ']);
  });

  it.each(['André', 'Beyoncé', 'résumés', 'clichés', 'São Paulo'])(
    'are the same in English without accents: %s',
    async (text) => {
      const ascii = text.normalize('NFKD').replaceAll(/[\u0300-\u036f]/g, '');
      expect(await termsIn('en', ascii)).toEqual(await termsIn('en', text));
    },
  );

  it('of an index of version 1 stay what they were', async () => {
    for (const id of ['en-1', 'auto-1']) {
      const analyzer = await loadAnalyzer(id);
      const language = analyzer.languageOf('the résumés of André');
      await analyzer.load([language]);
      expect(analyzer.toTerms('the résumés of André', language), id).toEqual(['resume', 'andre']);
      expect(await toQueryTerms('résumés', analyzer, [language]), id).toEqual(['resume']);
    }
  });

  it('are English for words of the Latin script in a language of another', async () => {
    expect(await termsIn('ru', 'запуск containers')).toEqual(['запуск', 'contain']);
  });

  it.each(languages)('of $name do not fail for any text', async ({ code }) => {
    const analyzer = await loadAnalyzer(toAnalyzerId(code));
    const letters = fc.constantFrom(..."aä1ßłñ.ıй́ёїאָאٱًक्षท่าเ中ア한-_’'+# \u{1f600}\ud800");
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 40 }), (text) => {
        const terms = analyzer.toTerms(text, analyzer.languageOf(text));
        expect(terms.every((term) => term !== '' && !/\s/.test(term))).toBe(true);
        expect(analyzer.toTerms(text, analyzer.languageOf(text))).toEqual(terms);
      }),
      { numRuns: 50 },
    );
  });

  it('take a moment for hostile words', async () => {
    for (const unit of ['a', 'ab', 'ä', 'A', 'a-', 'a.', 'aB', '1.', 'a_', 'ท', '中', 'क्', "a'"])
      for (const language of ['de', 'auto'])
        expect(Array.isArray(await termsIn(language, unit.repeat(20_000)))).toBe(true);
    expect(await termsIn('en', 'aB'.repeat(200_000))).toHaveLength(200_000);
    for (const letter of ['a', 'а'])
      expect(Array.isArray(await termsIn('auto', letter + '\u0316'.repeat(400_000)))).toBe(true);
    expect(Array.isArray(await termsIn('th', 'ภาษาไทย'.repeat(50_000)))).toBe(true);
  });
});

describe('an analyzer', () => {
  it('is found by code, tag and name', () => {
    for (const value of ['de', 'DE', 'de-AT', 'de_CH', 'german', ' German ']) expect(toAnalyzerId(value)).toBe('de-2');
    expect(toAnalyzerId('nb')).toBe('no-2');
    expect(toAnalyzerId('zh-Hans')).toBe('zh-2');
    expect(toAnalyzerId('auto')).toBe('auto-2');
    for (const value of ['klingon', '', 'x', 42, null, undefined, {}, 'typescript', '__proto__'])
      expect(() => toAnalyzerId(value)).toThrow(expect.objectContaining({ code: 'VECTOR_ARGUMENT_INVALID' }));
    expect(findLanguage(42)).toBeUndefined();
  });

  it('of another version is rejected, and none means the first analysis', async () => {
    for (const id of ['de-3', 'de-0', 'auto', 'xx-1', '', 'auto-1-1x'])
      await expect(loadAnalyzer(id), id).rejects.toMatchObject({ code: 'VECTOR_ARGUMENT_INVALID' });
    const legacy = await loadAnalyzer(undefined);
    const text = 'Häuser, C++ v1.2.3 E-1042 Поиск 日本';
    expect(legacy.toTerms(text, legacy.languageOf(text))).toEqual(lexicalTerms(text));
    expect(await toQueryTerms(text, legacy)).toEqual(lexicalTerms(text));
  });

  it('detects the language of each text, unless its record names it', async () => {
    const auto = await loadAnalyzer('auto-2');
    const codeOf = (text: string, named?: unknown): string => auto.languageOf(text, named).code;
    expect(codeOf('Die Häuser am See sind alt und schön.')).toBe('de');
    expect(codeOf('Les maisons au bord du lac sont belles.')).toBe('fr');
    expect(codeOf('Дома на берегу озера')).toBe('ru');
    expect(codeOf('')).toBe('en');
    expect(codeOf('12345')).toBe('en');
    expect(codeOf('Gift', 'de-AT')).toBe('de');
    expect(codeOf('const a = 1;', 'typescript')).toBe('en');
  });

  it('gives equal scores for every order of the texts', async () => {
    const auto = await loadAnalyzer('auto-2');
    const texts = ['Die Häuser am See sind alt und nicht schön', 'The houses and the boats at the lake are old'];
    texts.push('Les maisons et les bateaux sont dans le port', 'Boats, museums and paintings of the old harbours');
    const words = texts.join(' ').split(' ');
    const queries = words.map((_, at) => words.filter((__, place) => (place * 7 + at) % 6 === 0).join(' '));
    const scores = [texts, texts.toReversed()].map(async (ordered) => {
      const index = new KeywordIndex(auto);
      for (const [place, text] of ordered.entries()) index.set(place, text);
      const idOf = (place: number): string => ordered[place] as string;
      const found = [];
      for (const query of queries) {
        const terms = await index.toTerms(query);
        while (index.isLoading) await index.load();
        found.push(index.search(terms, { limit: 4, idOf }).map(({ doc, score }) => [idOf(doc), score]));
      }
      return found;
    });
    const [inOrder, reversed] = await Promise.all(scores);
    expect(reversed).toEqual(inOrder);
  });

  it('analyzes a query in the stored languages if its own is not clear', async () => {
    const auto = await loadAnalyzer('auto-2');
    const stored = (...codes: string[]): Language[] => codes.map((code) => findLanguage(code) as Language);
    expect(await toQueryTerms('Mietverträge', auto, stored('de'))).toEqual(await termsIn('de', 'Mietverträge'));
    expect(await toQueryTerms('Häuser Berlin', auto, stored('de', 'en'))).toEqual(
      expect.arrayContaining(['haus', 'hauser', 'berlin']),
    );
    expect(await toQueryTerms('Wo sind die Häuser?', auto, stored('de', 'en'))).toEqual(await termsIn('de', 'Häuser'));
    const mixed = 'Кто основал McKinsey & Company?';
    expect(await toQueryTerms(mixed, auto, stored('ru'))).toEqual(await termsIn('ru', mixed));
    // French or English, its words are English in Chinese texts.
    expect(await toQueryTerms('les containers de la production', auto, stored('zh'))).toEqual(
      await termsIn('zh', 'les containers de la production'),
    );
    expect(await toQueryTerms('лодка', auto, stored('de'))).toEqual(await termsIn('de', 'лодка'));
    // Databases do not say which languages their texts have.
    expect(await toQueryTerms('Straße 東京', auto)).toEqual(expect.arrayContaining(await termsIn('de', 'Straße 東京')));
    expect(await toQueryTerms(mixed, auto)).toEqual(await termsIn('ru', mixed));
    const twice = await toQueryTerms('Berlin Berlin', auto, stored('de', 'fr'));
    expect(twice.filter((term) => term === 'berlin')).toHaveLength(2);
  });
});

describe('a keyword index', () => {
  it('finds texts whose language is loaded after they were changed', async () => {
    const change = fc.record({
      kind: fc.constantFrom('set', 'set', 'set', 'delete', 'move', 'search'),
      doc: fc.nat(9),
      text: fc.array(fc.constantFrom('red', 'green', 'rot', 'grün', 'vert'), { maxLength: 4 }),
    });
    const options = { limit: 20, idOf: String };
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const loaded = new Set<Language>();
        const analyzer: TermAnalyzer = {
          id: 'test',
          languageOf: (text) => languages[text.length % 3] as Language,
          queryLanguages: () => [],
          isLoaded: (language) => loaded.has(language),
          load: async (needed) => {
            for (const language of needed) loaded.add(language);
          },
          toTerms: (text, language) => {
            expect(loaded.has(language)).toBe(true);
            return text.split(' ');
          },
        };
        const index = new KeywordIndex(analyzer);
        const texts = new Map<number, string>();
        const search = async (): Promise<unknown> => {
          while (index.isLoading) await index.load();
          return index.search(['rot', 'green'], options);
        };
        for (const { kind, doc, text } of changes) {
          if (kind === 'search') await search();
          else if (kind === 'delete') {
            index.delete(doc);
            texts.delete(doc);
          } else if (kind === 'set') {
            index.set(doc, text.join(' '));
            texts.set(doc, text.join(' '));
          } else if (!texts.has(20)) {
            index.move(doc, 20);
            const moved = texts.get(doc);
            texts.delete(doc);
            if (moved !== undefined) texts.set(20, moved);
          }
        }
        const expected = new Bm25Index();
        for (const [doc, text] of texts) expected.set(doc, text.split(' '));
        expect(await search()).toEqual(expected.search(['rot', 'green'], options));
      }),
    );
  });
});
