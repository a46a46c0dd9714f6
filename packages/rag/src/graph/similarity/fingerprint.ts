/** 64 bits that two vectors share when they are equal, and otherwise by accident only. Equal on every machine. */
export function fingerprint(vector: Float32Array): bigint {
  const bits = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (let place = 0; place < bits.length; place += 1) {
    const value = bits[place] as number;
    low = Math.imul(low ^ value, 0x01000193);
    low ^= low >>> 15;
    high = Math.imul(high ^ value, 0x85ebca6b);
    high ^= high >>> 13;
  }
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}
