/**
 * Returns the value of a Basic `Authorization` header. Both parts are form-encoded first.
 *
 * @see [RFC 6749, section 2.3.1 – Client Password](https://www.rfc-editor.org/rfc/rfc6749.html#section-2.3.1)
 */
export function basicAuthorization(clientId: string, clientSecret: string): string {
  const encode = (value: string): string => new URLSearchParams({ '': value }).toString().slice(1);
  return `Basic ${btoa(`${encode(clientId)}:${encode(clientSecret)}`)}`;
}
