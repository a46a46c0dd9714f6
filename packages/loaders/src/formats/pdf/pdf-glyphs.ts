const unknown = '\uFFFD';
/** Fonts of symbols: the code of a glyph without a Unicode value is not that of a letter. */
const symbolFont = /CM(?:SY|EX|MI|BSY)|MS[AB]M|Math|Symbol|LINEW|CIRCLE|stmary/i;
/** Codes of TeX's encodings OT1 and T1, in bitmap fonts without Unicode values. */
const texCodes: ReadonlyMap<number, string> = new Map([
  ...['ff', 'fi', 'fl', 'ffi', 'ffl', '“', '”', '„', '«', '»', '–', '—'].map((text, at) => [0x0b + at, text] as const),
  ...['ı', 'ȷ', 'ff', 'fi', 'fl', 'ffi', 'ffl'].map((text, at) => [0x19 + at, text] as const),
  [0x88, '•'],
]);
/** Characters of the codes from 11 in bitmap fonts, whose names of glyphs are the same as those of dingbats. */
const dingbats =
  '☛☞✌✍✎✏✑✒✓✔✕✖✗✘✙✚✛✜✢✣✤✥✦✧★✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹✺✻✼✽✾✿❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❑▲▼◆❖ ◗❘❙❚❯❱❲❳❨❩❬❭❪❫❴❵❛❜❝❞❡❢❣❤✐❥❦❧♠♥♦♣    ✉✈✇①②③';
/** Codes for private use of Adobe's and Microsoft's fonts of symbols: bullets. */
const bullets = new Set([0xf06e, 0xf076, 0xf0a7, 0xf0a8, 0xf0b7, 0xf0d8, 0xf0fc]);

/** Whether the codes of a font may be no letters. Bitmap fonts have no names. */
export function isSymbolic(fontName: string): boolean {
  return fontName === '' || symbolFont.test(fontName);
}

/** Returns the text of a glyph, U+FFFD if it is not known. @param isUnmapped - whether the file has no Unicode value for it */
export function decodeGlyph(code: number, isUnmapped: boolean, fontName: string): string {
  const dingbat = fontName === '' && code > 0x2400 ? dingbats.indexOf(String.fromCharCode(code)) : -1;
  if (dingbat !== -1) return decodeGlyph(dingbat + 11, true, fontName);
  if (isUnmapped && symbolFont.test(fontName)) return unknown;
  if (isUnmapped || code < 32) return texCodes.get(code) ?? (code < 32 ? unknown : String.fromCodePoint(code));
  if (code >= 0xe000 && code <= 0xf8ff) return bullets.has(code) ? '•' : unknown;
  return code > 0x10ffff ? unknown : String.fromCodePoint(code);
}

/** Composes letters of accents and letters, which overlap in fonts of TeX's encoding OT1. */
export function composeAccents(text: string): string {
  return text.replace(/([´ˆ˜¨¯˘˙˚ˇ¸˝])([A-Za-zıȷ])/g, (_, accent: string, letter: string) => {
    const combining = { ˆ: '\u0302', ˇ: '\u030C' }[accent] ?? accent.normalize('NFKD').trim();
    return ({ ı: 'i', ȷ: 'j' }[letter] ?? letter).concat(combining).normalize('NFC');
  });
}
