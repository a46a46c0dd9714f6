/** Characters of a sample: shorter ones do not show the widths of letters. */
const leastCharacters = 8;
/** Samples of a font that decide. */
const leastSamples = 4;
/** Samples of a font that are compared. */
const mostSamples = 40;
/** Part by which the widths of letters of one sample differ from those of another. */
const tolerance = 0.02;
/** Part of the samples that are equal. */
const leastEqual = 0.8;

/**
 * Finds the fonts whose letters have one width, by the widths of lines: many files do not state it, above all those of TeX. The samples are those of
 * the pages so far.
 */
export class FontWidths {
  /** Mean widths of letters by font, each in font sizes. */
  readonly #samples = new Map<string, number[]>();

  /** Whether a font has enough samples. */
  isSampled(font: string): boolean {
    return (this.#samples.get(font)?.length ?? 0) >= mostSamples;
  }

  /** @param width - of the text, in font sizes */
  add(font: string, text: string, width: number): void {
    const samples = this.#samples.get(font) ?? [];
    // Digits have one width in most fonts.
    if (text.length < leastCharacters || !/\p{L}{4}/u.test(text)) return;
    if (Number.isFinite(width)) this.#samples.set(font, [...samples, width / text.length]);
  }

  monospacedFonts(): Set<string> {
    return new Set([...this.#samples].flatMap(([font, samples]) => (areEqual(samples) ? [font] : [])));
  }
}

function areEqual(samples: readonly number[]): boolean {
  if (samples.length < leastSamples) return false;
  const middle = samples.toSorted((a, b) => a - b)[samples.length >> 1]!;
  const equal = samples.filter((sample) => Math.abs(sample - middle) <= middle * tolerance);
  return equal.length >= samples.length * leastEqual;
}
