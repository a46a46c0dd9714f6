/** Returns 128 bits of the SHA-256 digest of a JSON value, in Base64. */
export async function digestOf(value: unknown): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(value)));
  return btoa(String.fromCharCode(...new Uint8Array(bytes, 0, 16)));
}
