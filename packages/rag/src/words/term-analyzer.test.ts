import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { englishAnalysis } from './analysis.js';
import { english, findLanguage, type Language, languages } from './languages.js';
import { Bm25Index } from './bm25-index.js';
import { KeywordIndex } from './keyword-index.js';
import { toQueryTerms } from './query-terms.js';
import { loadAnalyzer, type TermAnalyzer, toAnalyzerId } from './term-analyzer.js';

async function termsIn(language: string, text: string): Promise<string[]> {
  const analyzer = await loadAnalyzer(toAnalyzerId(language));
  const found = analyzer.languagesOf(text).shown ?? english;
  await analyzer.load([found]);
  return analyzer.toTerms(text, [found]);
}

/** The terms of a query, without their weights. */
async function queryTerms(text: string, analyzer: TermAnalyzer, stored?: readonly Language[]): Promise<string[]> {
  return (await toQueryTerms(text, analyzer, stored)).flatMap(({ forms }) => forms);
}

function indexOf(texts: readonly string[], analyzer: TermAnalyzer): KeywordIndex {
  const index = new KeywordIndex(analyzer, (doc) => ({ text: texts[doc] as string }));
  for (const doc of texts.keys()) index.set(doc);
  return index;
}

it('keeps the terms of at most 100,000 tokens', async () => {
  const analyzer = await loadAnalyzer(toAnalyzerId('en'));
  for (let batch = 0; batch < 21; batch += 1) {
    const tokens = Array.from({ length: 5000 }, (_, n) => `token${batch * 5000 + n}`);
    analyzer.toTerms(tokens.join(' '), [english]);
    expect(englishAnalysis().known.size).toBeLessThanOrEqual(100_000);
  }
  expect(englishAnalysis().known.size).toBeGreaterThan(0);
});

describe('terms of names and numbers', () => {
  it.each([
    ['C', ['c']],
    ['C++ and C#', ['c++', '~and', 'c#']],
    ['written in C, not in Go', ['written', '~in', 'c', '~not', '~in', 'go']],
    ['v1.2.3', ['1.2.3', 'v1', '~1', '~2', '~3']],
    ['1.2.3', ['1.2.3', '~1', '~2', '~3']],
    [
      '5.4 on 2011-04-30 at 16:30',
      ['5.4', '~5', '~4', '~on', '2011-04-30', '2011', '04', '30', '~at', '16:30', '16', '30'],
    ],
    ['release 10.2.3-beta.1', ['releas', '10.2.3', '10', '~2', '~3', 'beta', '~1']],
    ['E-1042', ['1042', 'e1042', 'e']],
    ['E1042', ['1042', 'e1042']],
    ['maxTokens', ['maxtoken', 'max', 'token']],
    ['max_tokens', ['maxtoken', 'max', 'token']],
    ['--no-verify', ['noverifi', '~no', 'verifi']],
    ['node:http', ['nodehttp', 'node', 'http']],
    ['INV-2203 RFC 9728', ['inv2203', '2203', 'inv', 'rfc', '9728']],
    ['XMLHttpRequest', ['xmlhttprequest', 'xml', 'http', 'request']],
    ['J. Smith’s PDFs', ['j', 'smith', '~s', 'pdf']],
    ["it's state-of-the-art", ['~it', '~s', 'stateoftheart', 'state', '~of', '~the', 'art']],
    ['', []],
  ])('are %j → %j', async (text, terms) => {
    expect((await termsIn('en', text)).toSorted()).toEqual(terms.toSorted());
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

  it('are English for words of the Latin script in a language of another', async () => {
    expect(await termsIn('ru', 'запуск containers')).toEqual(['запуск', 'contain']);
  });

  it.each(languages)('of $name do not fail for any text', async ({ code }) => {
    const analyzer = await loadAnalyzer(toAnalyzerId(code));
    const letters = fc.constantFrom(..."aä1ßłñ.ıй́ёїאָאٱًक्षท่าเ中ア한-_’'+# \u{1f600}\ud800");
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 40 }), (text) => {
        const language = analyzer.languagesOf(text).shown ?? english;
        const terms = analyzer.toTerms(text, [language]);
        expect(terms.every((term) => term !== '' && !/\s/.test(term))).toBe(true);
        expect(analyzer.toTerms(text, [language])).toEqual(terms);
      }),
      { numRuns: 50 },
    );
  });

  it('take a moment for hostile words', async () => {
    for (const unit of ['a', 'ab', 'ä', 'A', 'a-', 'a.', 'aB', '1.', 'a_', 'ท', '中', 'क्', "a'"])
      for (const language of ['de', 'auto'])
        expect(Array.isArray(await termsIn(language, unit.repeat(20_000)))).toBe(true);
    expect(await termsIn('en', 'aB'.repeat(200_000))).toHaveLength(200_002);
    for (const letter of ['a', 'а'])
      expect(Array.isArray(await termsIn('auto', letter + '\u0316'.repeat(400_000)))).toBe(true);
    expect(Array.isArray(await termsIn('th', 'ภาษาไทย'.repeat(50_000)))).toBe(true);
  });
});

describe('an analyzer', () => {
  it('is found by code, tag and name', () => {
    for (const value of ['de', 'DE', 'de-AT', 'de_CH', 'german', ' German ']) expect(toAnalyzerId(value)).toBe('de-3');
    expect(toAnalyzerId('nb')).toBe('no-3');
    expect(toAnalyzerId('zh-Hans')).toBe('zh-3');
    expect(toAnalyzerId('auto')).toBe('auto-3');
    expect(toAnalyzerId()).toBe('en-3');
    for (const value of ['klingon', '', 'x', 42, null, {}, 'typescript', '__proto__'])
      expect(() => toAnalyzerId(value)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect(findLanguage(42)).toBeUndefined();
  });

  it('of another version, or none, is rejected', async () => {
    for (const id of ['de-2', 'de-4', 'auto', 'xx-3', '', 'auto-3-1x'])
      await expect(loadAnalyzer(id), id).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  it('detects the language of each text, unless its record names it', async () => {
    const auto = await loadAnalyzer('auto-3');
    const codeOf = (text: string, named?: unknown): string | undefined => auto.languagesOf(text, named).shown?.code;
    expect(codeOf('Die Häuser am See sind alt und schön.')).toBe('de');
    expect(codeOf('Les maisons au bord du lac sont belles.')).toBe('fr');
    expect(codeOf('Дома на берегу озера')).toBe('ru');
    for (const text of ['', '12345', '| IN | OR | NO | MI |', 'v18.20.4 [-h] [-c | -k]'])
      expect(codeOf(text)).toBe(undefined);
    expect(codeOf('Gift', 'de-AT')).toBe('de');
    expect(codeOf('const a = 1;', 'typescript')).toBe(undefined);
  });

  it('gives equal scores for every order of the texts', async () => {
    const auto = await loadAnalyzer('auto-3');
    const texts = ['Die Häuser am See sind alt und nicht schön', 'The houses and the boats at the lake are old'];
    texts.push('Les maisons et les bateaux sont dans le port', 'Boats, museums and paintings of the old harbours');
    const words = texts.join(' ').split(' ');
    const queries = words.map((_, at) => words.filter((__, place) => (place * 7 + at) % 6 === 0).join(' '));
    const scores = [texts, texts.toReversed()].map(async (ordered) => {
      const index = indexOf(ordered, auto);
      const idOf = (place: number): string => ordered[place] as string;
      const found = [];
      for (const query of queries) {
        const terms = await index.toTerms(query);
        found.push(index.search(terms, { limit: 4, idOf }).map(({ doc, score }) => [idOf(doc), score]));
      }
      return found;
    });
    const [inOrder, reversed] = await Promise.all(scores);
    expect(reversed).toEqual(inOrder);
  });

  it('analyzes a query in every language of the texts', async () => {
    const auto = await loadAnalyzer('auto-3');
    const stored = (...codes: string[]): Language[] => codes.map((code) => findLanguage(code) as Language);
    expect(await queryTerms('Mietverträge', auto, stored('de'))).toEqual(await termsIn('de', 'Mietverträge'));
    const [houses, ...beginnings] = await toQueryTerms('Wo sind die Häuser?', auto, stored('en', 'de'));
    expect(houses).toEqual({ forms: ['haus', 'hauser'], weight: 1, isQuestionWord: false });
    expect(beginnings.map(({ forms }) => forms)).toEqual([['_haus']]);
    expect(await queryTerms('Häuser Berlin', auto, stored('de', 'en'))).toEqual(
      expect.arrayContaining(['haus', 'hauser', 'berlin']),
    );
    expect(await queryTerms('лодка', auto, stored('ru', 'en'))).toContain((await termsIn('ru', 'лодка'))[0]);
    const twice = await toQueryTerms('Berlin Berlin', auto, stored('de', 'fr'));
    expect(twice[0]).toMatchObject({ forms: ['berlin'], weight: 2 });
  });

  it('analyzes a query in its own language and English, or all languages, where those of the texts are not known', async () => {
    const auto = await loadAnalyzer('auto-3');
    const certain = await queryTerms('Wo sind die Häuser, die nicht alt sind?', auto);
    expect(certain).toEqual(expect.arrayContaining(['haus', 'hauser', 'alt']));
    expect(certain).not.toContain('~sind');
    const word = await queryTerms('informaciones', auto);
    for (const code of ['en', 'es', 'de', 'fr', 'fi'])
      expect(word).toContain((await termsIn(code, 'informaciones'))[0]);
    expect(await queryTerms('Straße 東京', auto)).toEqual(expect.arrayContaining(['strass', '東', '東京', '京']));
  });

  it('leaves out words without a subject, unless there are no others', async () => {
    const single = await loadAnalyzer('en-3');
    expect(await queryTerms("What's in a C program?", single)).toEqual(['c', 'program']);
    expect(await queryTerms('To be, or not to be', single)).toEqual(['~to', '~be', '~or', '~not']);
    expect(await queryTerms('US', single)).toEqual(['us']);
    expect(await queryTerms('NO', single)).toEqual(['~no']);
  });

  it('marks words that questions have, and texts rarely', async () => {
    const marked = async (language: string, text: string): Promise<string[]> => {
      const terms = await toQueryTerms(text, await loadAnalyzer(toAnalyzerId(language)));
      return terms.filter(({ isQuestionWord }) => isQuestionWord).flatMap(({ forms }) => forms);
    };
    expect(await marked('en', 'What does a dataclass do for me? Please tell us!')).toEqual([
      'me',
      'pleas',
      'tell',
      'us',
    ]);
    expect(await marked('de', 'Erkläre mir bitte die Kündigungsfrist')).toContain('bitt');
    expect(await marked('fr', 'Montre-moi le contrat, merci')).toContain('merc');
    expect(await marked('ru', 'Покажи пожалуйста договор')).toContain('покаж');
    expect(await marked('ja', '契約を見せて')).toEqual([]);
  });

  it('counts the whole of a name in addition to its parts, and most in a query of nothing else', async () => {
    const single = await loadAnalyzer('en-3');
    const weights = async (text: string): Promise<[string, number][]> =>
      (await toQueryTerms(text, single)).map(({ forms: [form = ''], weight }) => [form, weight]);
    const parts = [
      ['ssh', 1],
      ['keygen', 1],
    ];
    expect(await weights('sign with ssh-keygen')).toEqual([['sign', 1], ['sshkeygen', 0.5], ...parts]);
    for (const text of ['ssh-keygen', 'What does ssh-keygen do for me?'])
      expect((await weights(text)).filter(([term]) => term !== 'me')).toEqual([['sshkeygen', 2], ...parts]);
  });
});

describe('a keyword index', () => {
  it.each([
    ['Die Kündigungsfrist beträgt drei Monate.', 'Kündigung'],
    ['Die Rechnungen werden monatlich verschickt.', 'Rechnung'],
    ['Wir haben neue Büroräume gemietet.', 'Büro'],
    ['Das Passwort kann zurückgesetzt werden.', 'zurücksetzen'],
    ['Faktury są wysyłane co miesiąc.', 'faktura'],
    ['De facturen worden elke maand verstuurd.', 'factuur'],
    ['Fakturorna skickas varje månad.', 'faktura'],
    ['Faturalar her ay gönderilir.', 'fatura'],
    ['Laskut lähetetään joka kuukausi.', 'lasku'],
  ])('finds a short text that may be of several languages: %s', async (text, query) => {
    for (const beside of [
      [],
      ['Winter coats keep warm below ten degrees. Rain shoes stay dry and they are sold by Anna Berg.'],
    ]) {
      const index = indexOf([text, ...beside], await loadAnalyzer(toAnalyzerId('auto')));
      const [first] = index.search(await index.toTerms(query), { limit: 1, idOf: String });
      expect(first?.doc).toBe(0);
    }
  });

  it('compares scores with those that a text in the language of the query could have', async () => {
    const texts = [
      'Winter coats keep warm below ten degrees, and they are sold by Anna Berg in the old town.',
      'Die Mietverträge der Häuser am See sind alt, und die Kündigungsfrist beträgt drei Monate.',
    ];
    const scoreIn = async (language: string): Promise<number> => {
      const index = indexOf(texts, await loadAnalyzer(toAnalyzerId(language)));
      const terms = await index.toTerms('winter coats degrees');
      return index.search(terms, { limit: 1, idOf: String })[0]?.score ?? 0;
    };
    expect(await scoreIn('auto')).toBeGreaterThan(0.97 * (await scoreIn('en')));
  });

  it('finds texts whose language is loaded after they were changed', async () => {
    const change = fc.record({
      kind: fc.constantFrom('set', 'set', 'set', 'delete', 'move', 'search'),
      doc: fc.nat(9),
      text: fc.array(fc.constantFrom('red', 'green', 'rot', 'grün', 'vert'), { maxLength: 4 }),
    });
    const options = { limit: 20, idOf: String };
    const query = ['rot', 'green'].map((term) => ({ forms: [term], weight: 1, isQuestionWord: false }));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const loaded = new Set<Language>();
        const analyzer: TermAnalyzer = {
          single: undefined,
          languagesOf: (text) => {
            const likely = [languages[text.length % 3] as Language, languages[3] as Language];
            return { shown: text.length % 2 === 0 ? likely[0] : undefined, likely };
          },
          isLoaded: (language) => loaded.has(language),
          load: async (needed) => {
            for (const language of needed) loaded.add(language);
          },
          toTerms: (text, own) => {
            expect(own.every((language) => loaded.has(language))).toBe(true);
            return text.split(' ');
          },
        };
        const texts = new Map<number, string>();
        const index = new KeywordIndex(analyzer, (doc) => ({ text: texts.get(doc) as string }));
        const search = async (): Promise<unknown> => {
          await index.toTerms('');
          return index.search(query, options);
        };
        for (const { kind, doc, text } of changes) {
          if (kind === 'search') await search();
          else if (kind === 'delete') {
            index.delete(doc);
            texts.delete(doc);
          } else if (kind === 'set') {
            texts.set(doc, text.join(' '));
            index.set(doc);
          } else if (!texts.has(20)) {
            index.move(doc, 20);
            const moved = texts.get(doc);
            texts.delete(doc);
            if (moved !== undefined) texts.set(20, moved);
          }
        }
        const expected = new Bm25Index();
        for (const [doc, text] of texts) expected.set(doc, text.split(' '));
        expect(await search()).toEqual(expected.search(query, options));
      }),
    );
  });
});
