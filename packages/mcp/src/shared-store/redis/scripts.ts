import { MAX_LIFETIME } from '../check-arguments.js';

/** Arguments: value, lifetime in milliseconds or nothing, version or nothing. Returns the new version. */
export const putScript = `
local current = redis.call('HGET', KEYS[1], 'version')
if ARGV[3] ~= '' and (current or '0') ~= ARGV[3] then return false end
local time = redis.call('TIME')
local version = math.max(time[1] * 1000000 + time[2], (tonumber(current) or 0) + 1)
local text = string.format('%.0f', version)
redis.call('HSET', KEYS[1], 'value', ARGV[1], 'version', text)
if ARGV[2] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return text`;

/** Arguments: version or nothing. Returns the number of deleted records. */
export const deleteScript = `
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** Arguments: value, lifetime in milliseconds or nothing, number of entries or nothing. Returns the id of the entry. */
export const appendScript = `
local id
if ARGV[3] == '' then id = redis.call('XADD', KEYS[1], '*', 'value', ARGV[1])
else id = redis.call('XADD', KEYS[1], 'MAXLEN', '=', ARGV[3], '*', 'value', ARGV[1]) end
if ARGV[2] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return id`;

/**
 * Arguments: amount, capacity, tokens per second. Returns the milliseconds to wait as text, because replies are whole numbers. After
 * the clock of the server was set back, the bucket is refilled from its new time.
 */
export const takeScript: string = `
local amount, capacity, rate = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'time')
local time = tonumber(bucket[2]) or now
if time > now then
  time = now
  redis.call('HSET', KEYS[1], 'time', string.format('%.17g', now))
end
local tokens = math.min(capacity, (tonumber(bucket[1]) or capacity) + (now - time) * rate / 1000)
if tokens < amount then return string.format('%.0f', math.max(1, math.ceil((amount - tokens) * 1000 / rate))) end
local rest = tokens - amount
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', rest), 'time', string.format('%.17g', now))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.min(${MAX_LIFETIME}, math.ceil((capacity - rest) * 1000 / rate) + 1)))
return '0'`;
