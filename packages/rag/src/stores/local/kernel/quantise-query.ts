export interface QuantisedQuery {
  /** What one step of the integers stands for. */
  readonly scale: number;
  /** Length of the query itself. */
  readonly length: number;
  /** Sum of the integers. */
  readonly sum: number;
}

/** Rounds a query to integers up to `largestCode`. @param factor - multiplies every number */
export function quantiseQuery(
  vector: Float32Array,
  factor: number,
  largestCode: number,
  codes: Int16Array,
): QuantisedQuery {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  const scale = (largest * factor) / largestCode;
  const inverse = scale === 0 ? 0 : factor / scale;
  let length = 0;
  let sum = 0;
  for (let position = 0; position < vector.length; position += 1) {
    const exact = (vector[position] as number) * factor;
    const code = Math.floor((vector[position] as number) * inverse + 0.5);
    length += exact * exact;
    sum += code;
    codes[position] = code;
  }
  return { scale, length: Math.sqrt(length), sum };
}
