const replacements: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ة: 'ه',
};
const replaced = new RegExp(`[${Object.keys(replacements).join('')}]`, 'gu');

/** Letters with accents: Latin and Greek ones with any, Cyrillic ones with stress marks, but not with the breve that makes й of и. */
const accents = /([\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+|(\p{Script=Cyrillic})[\u0300\u0301]/gu;

const notAscii = /[\u0080-\uffff]/;

/**
 * Returns a lowercase word without differences that queries often do not repeat: accents, ligatures, ß, final forms.
 *
 * @example
 * foldWord('straße'); // strasse
 */
export function foldWord(word: string): string {
  if (!notAscii.test(word)) return word;
  return word
    .normalize('NFKD')
    .replace(accents, '$1$2')
    .normalize('NFC')
    .replace(replaced, (letter) => replacements[letter] as string);
}

/** Marks that a reader adds or omits: vowels of Arabic and Hebrew, the Arabic tatweel; also soft hyphens and joiners. */
const marks =
  /\u0640|\u00ad|\ufeff|[\u200b-\u200f]|[\u0610-\u061a]|[\u064b-\u065f]|\u0670|[\u06d6-\u06ed]|[\u0591-\u05c7]/g;
const digits = /(?![0-9])\p{Nd}/gu;

/**
 * Returns a text in the form that words are split from: full-width and other compatibility forms as usual characters, digits of all scripts
 * as 0 to 9, without optional vowels, with е for ё. Accents and case remain, because stemmers need them.
 */
export function normalizeText(text: string): string {
  if (!notAscii.test(text)) return text;
  return text
    .normalize('NFKC')
    .replace(marks, '')
    .replace(/[أإآٱ]/g, 'ا')
    .replace(/ё/g, 'е')
    .replace(/Ё/g, 'Е')
    .replace(digits, toAsciiDigit);
}

/** The digits of a script are consecutive, from 0 to 9. */
function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0) as number;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}
