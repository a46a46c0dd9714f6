import * as zlib from 'node:zlib';

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1;
  return value >>> 0;
});

/** CRC-32 (IEEE 802.3), by Node's own function where it has one (22.2 and newer). */
export function crc32(bytes: Uint8Array): number {
  if ('crc32' in zlib) return zlib.crc32(bytes);
  return crc32InScript(bytes);
}

/** The same in JavaScript. */
export function crc32InScript(bytes: Uint8Array): number {
  let value = 0xff_ff_ff_ff;
  for (let index = 0; index < bytes.length; index += 1) {
    value = (value >>> 8) ^ (table[(value ^ (bytes[index] as number)) & 0xff] as number);
  }
  return (value ^ 0xff_ff_ff_ff) >>> 0;
}
