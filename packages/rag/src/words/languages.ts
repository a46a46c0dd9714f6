/** A language that texts are analyzed in. */
export interface Language {
  /** ISO 639-1. */
  readonly code: string;
  /** In English, lowercase. */
  readonly name: string;
  readonly script: Script;
  /** Letters that not every language of the script has, to recognize the language. */
  readonly letters: string;
  /** Whether words are often written together, as in “Hausverwaltung”. */
  readonly hasCompounds: boolean;
  /** Whether words lose their accents before they are stemmed, because only foreign words have accents, and writers omit them. */
  readonly foldsFirst: boolean;
  /** Loads the stemmer; absent where there is none. */
  readonly loadStemmer?: () => Promise<Stemmer>;
}

/** Returns the stem of a lowercase word. */
export type Stemmer = (word: string) => string;

/** Property `Script` of Unicode. */
export type Script =
  | 'Latin'
  | 'Cyrillic'
  | 'Greek'
  | 'Arabic'
  | 'Hebrew'
  | 'Devanagari'
  | 'Tamil'
  | 'Armenian'
  | Unspaced;

/** Scripts of languages that need neither stems nor stop words: their terms are pairs of characters, or words of a dictionary. */
type Unspaced = 'Han' | 'Hiragana' | 'Hangul' | 'Thai' | 'Lao' | 'Khmer' | 'Myanmar';

type StemmerModule = { readonly stemmer: Stemmer };

const withCompounds: ReadonlySet<string> = new Set(['da', 'nl', 'fi', 'de', 'hu', 'no', 'sv']);

function toLanguage(
  code: string,
  name: string,
  script: Script,
  { letters = '', load }: { letters?: string; load?: () => Promise<StemmerModule> } = {},
): Language {
  const loadStemmer = load && (async (): Promise<Stemmer> => (await load()).stemmer);
  return {
    code,
    name,
    script,
    letters,
    hasCompounds: withCompounds.has(code),
    foldsFirst: code === 'en',
    ...(loadStemmer && { loadStemmer }),
  };
}

/** This stemmer replaces letters in its word, which fails for a string: “ученици” threw a TypeError. It gets a list of letters instead. */
async function loadBulgarian(): Promise<StemmerModule> {
  const { stemmer } = await import('@orama/stemmers/bulgarian');
  const toLetters = (word: string): unknown => {
    const letters = [...word];
    return Object.assign(letters, { substring: (start: number, end: number) => letters.slice(start, end).join('') });
  };
  // It reads of a string only its letters, its length and `substring`.
  return { stemmer: (word) => stemmer(toLetters(word) as string) };
}

/**
 * All languages. Stemmers are loaded when a text needs them.
 *
 * English has its own stemmer, because the one of @orama/stemmers confuses words: its stem of “possession” is “posses”, of “possess” “possess”.
 */
export const languages: readonly Language[] = [
  toLanguage('en', 'english', 'Latin'),
  toLanguage('da', 'danish', 'Latin', { letters: 'æøåé', load: () => import('@orama/stemmers/danish') }),
  toLanguage('nl', 'dutch', 'Latin', { letters: 'éëïóèü', load: () => import('@orama/stemmers/dutch') }),
  toLanguage('fi', 'finnish', 'Latin', { letters: 'äöå', load: () => import('@orama/stemmers/finnish') }),
  toLanguage('fr', 'french', 'Latin', { letters: 'àâçéèêëîïôùûüœ', load: () => import('@orama/stemmers/french') }),
  toLanguage('de', 'german', 'Latin', { letters: 'äöüß', load: () => import('@orama/stemmers/german') }),
  toLanguage('hu', 'hungarian', 'Latin', { letters: 'áéíóöőúüű', load: () => import('@orama/stemmers/hungarian') }),
  toLanguage('id', 'indonesian', 'Latin', { load: () => import('@orama/stemmers/indonesian') }),
  toLanguage('ga', 'irish', 'Latin', { letters: 'áéíóú', load: () => import('@orama/stemmers/irish') }),
  toLanguage('it', 'italian', 'Latin', { letters: 'àèéìòù', load: () => import('@orama/stemmers/italian') }),
  toLanguage('lt', 'lithuanian', 'Latin', {
    letters: 'ąčęėįšųūž',
    load: () => import('@orama/stemmers/lithuanian'),
  }),
  toLanguage('no', 'norwegian', 'Latin', { letters: 'æøåéòô', load: () => import('@orama/stemmers/norwegian') }),
  toLanguage('pt', 'portuguese', 'Latin', {
    letters: 'áâãàçéêíóôõú',
    load: () => import('@orama/stemmers/portuguese'),
  }),
  toLanguage('ro', 'romanian', 'Latin', { letters: 'ăâîșțşţ', load: () => import('@orama/stemmers/romanian') }),
  toLanguage('es', 'spanish', 'Latin', { letters: 'áéíñóúü', load: () => import('@orama/stemmers/spanish') }),
  toLanguage('sv', 'swedish', 'Latin', { letters: 'åäöé', load: () => import('@orama/stemmers/swedish') }),
  toLanguage('tr', 'turkish', 'Latin', { letters: 'çğıöşüâî', load: () => import('@orama/stemmers/turkish') }),
  toLanguage('pl', 'polish', 'Latin', { letters: 'ąćęłńóśźż' }),
  toLanguage('cs', 'czech', 'Latin', { letters: 'áčďéěíňóřšťúůýž' }),
  toLanguage('vi', 'vietnamese', 'Latin', {
    letters: 'àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ',
  }),
  toLanguage('ru', 'russian', 'Cyrillic', { letters: 'ыэёъщ', load: () => import('@orama/stemmers/russian') }),
  toLanguage('uk', 'ukrainian', 'Cyrillic', { letters: 'іїєґщ', load: () => import('@orama/stemmers/ukrainian') }),
  toLanguage('bg', 'bulgarian', 'Cyrillic', { letters: 'ъщ', load: loadBulgarian }),
  toLanguage('sr', 'serbian', 'Cyrillic', { letters: 'ђјљњћџ', load: () => import('@orama/stemmers/serbian') }),
  toLanguage('el', 'greek', 'Greek', { load: () => import('@orama/stemmers/greek') }),
  toLanguage('ar', 'arabic', 'Arabic', { letters: 'كيىةأإ', load: () => import('@orama/stemmers/arabic') }),
  toLanguage('fa', 'persian', 'Arabic', { letters: 'پچژگکی' }),
  toLanguage('he', 'hebrew', 'Hebrew'),
  toLanguage('hi', 'hindi', 'Devanagari', { load: () => import('@orama/stemmers/indian') }),
  toLanguage('ne', 'nepali', 'Devanagari', { load: () => import('@orama/stemmers/nepali') }),
  toLanguage('ta', 'tamil', 'Tamil', { load: () => import('@orama/stemmers/tamil') }),
  toLanguage('hy', 'armenian', 'Armenian', { load: () => import('@orama/stemmers/armenian') }),
  toLanguage('zh', 'chinese', 'Han'),
  toLanguage('ja', 'japanese', 'Hiragana'),
  toLanguage('ko', 'korean', 'Hangul'),
  toLanguage('th', 'thai', 'Thai'),
  toLanguage('lo', 'lao', 'Lao'),
  toLanguage('km', 'khmer', 'Khmer'),
  toLanguage('my', 'burmese', 'Myanmar'),
];

export const english: Language = languages[0] as Language;

const byName = new Map(languages.flatMap((each) => [[each.code, each] as const, [each.name, each] as const]));
/** Other codes of the languages: macrolanguages and former codes. */
const aliases: Readonly<Record<string, string>> = { nb: 'no', nn: 'no', iw: 'he', in: 'id', cmn: 'zh', yue: 'zh' };

/** @param value - a language code, a language tag such as `de-AT`, or an English name; `undefined` for any other value */
export function findLanguage(value: unknown): Language | undefined {
  if (typeof value !== 'string') return undefined;
  const name = value.trim().toLowerCase();
  const primary = name.split(/[-_]/, 1)[0] as string;
  return byName.get(name) ?? byName.get(aliases[primary] ?? primary);
}
