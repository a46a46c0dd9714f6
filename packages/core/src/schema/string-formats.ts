/**
 * Checks of the `format` keyword, all in linear time. Unknown formats accept every text.
 *
 * @see [JSON Schema validation, defined formats](https://json-schema.org/draft/2020-12/json-schema-validation#section-7.3)
 */
export const stringFormats: Readonly<Record<string, (text: string) => boolean>> = {
  __proto__: null as never,
  date: isDate,
  time: isTime,
  'date-time': (text) => /^.{10}[t ]/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11)),
  duration: (text) =>
    /^P(?!$)(\d+W|(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)?(T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S))?)$/.test(text),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: (text) => /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`) && isIPv6Tail(text),
  uri: (text) => /^[a-z][a-z\d+.-]*:/i.test(text) && isUriReference(text),
  'uri-reference': isUriReference,
  'uri-template': (text) =>
    /^([^\0-\x20"<>%\\^`{|}\x7f]|%[\da-f]{2}|\{[^{}]+\})*$/i.test(text) && hasTemplateVariables(text),
  uuid: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
  'json-pointer': (text) => /^(\/([^/~]|~[01])*)*$/.test(text),
  'relative-json-pointer': (text) => /^(0|[1-9]\d*)(#|(\/([^/~]|~[01])*)*)$/.test(text),
  regex: isRegex,
};

/** @see [RFC 3339, section 5.6](https://www.rfc-editor.org/rfc/rfc3339.html#section-5.6) */
function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (day === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function isTime(text: string): boolean {
  const match = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (!match) return false;
  const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number);
  const [offsetHour, offsetMinute] = [Number(match[5] ?? 0), Number(match[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  const offset = (match[4] === '-' ? -1 : 1) * (60 * offsetHour + offsetMinute);
  // A leap second is the last one of a UTC day.
  return second < 60 || (60 * hour + minute - offset + 2880) % 1440 === 1439;
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const [name, host] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || at > 64) return false;
  const isName = /^"[^"\\\n\r]*"$/.test(name) || /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(name);
  const address = /^\[(?:ipv6:)?(.*)\]$/i.exec(host)?.[1];
  return isName && (address === undefined ? isHostname(host) : isIPv4(address) || URL.canParse(`http://[${address}]/`));
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/i.test(label));
}

function isIPv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

/** The URL parser accepts short forms of an embedded IPv4 address. */
function isIPv6Tail(text: string): boolean {
  return !text.includes('.') || isIPv4(text.slice(text.lastIndexOf(':') + 1));
}

/** @see [RFC 3986, appendix A](https://www.rfc-editor.org/rfc/rfc3986.html#appendix-A) */
function isUriReference(text: string): boolean {
  if (!/^([\w:/?#[\]@!$&'()*+,;=.~-]|%[\da-f]{2})*$/i.test(text) || text.indexOf('#') !== text.lastIndexOf('#'))
    return false;
  const [, scheme, authority, rest = ''] = /^([^:/?#]*:)?(?:\/\/([^/?#]*))?(.*)$/s.exec(text) ?? [];
  if (scheme !== undefined && !/^[a-z][a-z\d+.-]*:$/i.test(scheme)) return false;
  if (/[[\]]/.test(rest)) return false;
  return (
    authority === undefined || /^([^@[\]]*@)?([^@:[\]]*|\[[\da-f:.]+\]|\[v[\da-f]+\.[^[\]]+\])(:\d*)?$/i.test(authority)
  );
}

/** @see [RFC 6570, section 2](https://www.rfc-editor.org/rfc/rfc6570.html#section-2) */
function hasTemplateVariables(text: string): boolean {
  const variable = /^([\w]|%[\da-f]{2})+(\.([\w]|%[\da-f]{2})+)*(:[1-9]\d{0,3}|\*)?$/i;
  const expressions = text.match(/\{[^{}]*\}/g) ?? [];
  return expressions.every((part) =>
    part
      .slice(1, -1)
      .replace(/^[+#./;?&]/, '')
      .split(',')
      .every((name) => variable.test(name)),
  );
}

function isRegex(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
