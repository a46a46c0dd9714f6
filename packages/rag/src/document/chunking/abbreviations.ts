/** After these a sentence goes on. */
const neverLast: ReadonlySet<string> = new Set(
  (
    'mr mrs ms dr prof rev hon gen sen rep gov capt cmdr lt col sgt st mt ft vs e.g i.e cf viz fig figs no nos vol vols pp eq eqs sec ch ' +
    'approx ca incl resp jan feb mar apr jun jul aug sep sept oct nov dec z.b d.h bzw nr abs hr fr art mme mlle sra srta'
  ).split(' '),
);

/** These may be the last word of a sentence; if so, the next one starts with a capital, not with a number. */
const sometimesLast: ReadonlySet<string> = new Set(
  'etc inc ltd co corp jr sr dept est al ed eds p u.s u.k e.u a.m p.m ph.d usw u.a'.split(' '),
);

const lastWord = /(?:^|[^\p{L}.])([\p{L}\p{M}]+(?:\.[\p{L}\p{M}]+)*)\.$/u;
const initial = /^\p{Lu}$/u;

/** Tells whether `text` ends in an abbreviation after which, given what comes `next`, its sentence goes on. */
export function endsInAbbreviation(text: string, next: string): boolean {
  const word = lastWord.exec(text)?.[1];
  if (word === undefined) return false;
  const name = word.toLowerCase();
  if (neverLast.has(name) || initial.test(word)) return true;
  return /^[\p{Ll}\p{N}]/u.test(next) && (sometimesLast.has(name) || name.includes('.'));
}
