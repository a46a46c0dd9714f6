/** Limits and timeouts of the server: `DEFAULT_…` are defaults of options, the others cannot be changed. Limits of one algorithm are in its file. */

/** Items per page of a list. */
export const DEFAULT_PAGE_SIZE = 1_000;
/** Removed and replaced tools that are remembered, to notify the clients that saw them. */
export const MAX_FORMER_TOOLS = 1_000;
/** Values of a completion that are sent. */
export const MAX_COMPLETION_VALUES = 100;
/** Messages of a batch. */
export const MAX_BATCH_MESSAGES = 100;
/** Resources that one session may subscribe to. */
export const MAX_SUBSCRIPTIONS = 1_000;
/** Open `subscriptions/listen` requests. */
export const MAX_LISTENERS = 1_024;
/** Milliseconds for which a notification waits for the changes before it. */
export const MAX_TURN = 1_000;
/** Resources that one `subscriptions/listen` request may name. */
export const MAX_LISTENED_RESOURCES = 1_000;
/** Rounds of one request with `input_required` results. */
export const MAX_INPUT_ROUNDS = 10;
/** Seconds that a client has for one round. */
export const DEFAULT_REQUEST_STATE_TTL = 600;
/** Milliseconds that a client has to answer a request of the server: users need time. */
export const DEFAULT_CLIENT_REQUEST_TIMEOUT: number = 10 * 60_000;

/** Characters of a URI; a longer one matches no template. */
export const MAX_URI_LENGTH: number = 16 * 1024;
/** Characters of a URI template. */
export const MAX_URI_TEMPLATE_LENGTH = 2_048;

/** Bytes of an HTTP body. */
export const DEFAULT_MAX_BODY_BYTES: number = 4 * 1024 * 1024;
/** Bytes of a message over stdio. */
export const MAX_STDIO_MESSAGE_BYTES: number = 10 * 1024 * 1024;
/** Bytes that may wait for a slow reader before the server closes the connection. */
export const MAX_BUFFERED_BYTES: number = 16 * 1024 * 1024;

/** Milliseconds after which an idle session ends. */
export const DEFAULT_IDLE_TIMEOUT: number = 30 * 60_000;
/** Open sessions of an endpoint. */
export const DEFAULT_MAX_SESSIONS = 10_000;
/** Open sessions of one caller, where a server has room for many. */
export const DEFAULT_MAX_SESSIONS_PER_CALLER = 1_000;
/** Unfinished requests of one session. */
export const DEFAULT_MAX_REQUESTS_PER_SESSION = 1_000;

/** Milliseconds for in-flight calls when a server closes. */
export const DEFAULT_GRACE = 10_000;
/** Milliseconds in which the last events of a server that closes must be stored and written. */
export const LAST_EVENTS_TIMEOUT = 1_000;
/** Milliseconds without a request after which a server that closes ends idle connections: a request may be on its way. */
export const QUIET_TIME = 50;
/** {@link QUIET_TIME} for new connections and for servers behind a balancer, which would receive an error instead of a response. */
export const LONG_QUIET_TIME = 1_000;
/** Milliseconds in which the headers of a request must arrive. */
export const DEFAULT_HEADERS_TIMEOUT = 10_000;
/** Milliseconds in which a whole request must arrive. */
export const DEFAULT_REQUEST_TIMEOUT = 30_000;
/** Milliseconds between two checks whether the host that started a stdio server still runs. */
export const PARENT_CHECK_INTERVAL = 1_000;
/** Milliseconds after which the process of a stdio server exits whose host has gone, also when something does not end. */
export const EXIT_TIMEOUT = 15_000;
/** Milliseconds in which a host must read the last lines of a stdio server that ends. */
export const FLUSH_TIMEOUT = 1_000;
/** Milliseconds that an idle connection stays open; longer than the idle timeout of common proxies, which would reuse a closing one. */
export const KEEP_ALIVE_TIMEOUT = 65_000;
/** Milliseconds between comments on event streams. */
export const KEEP_ALIVE_INTERVAL = 5_000;
/** Seconds in the `Retry-After` header of status 429 and 503. */
export const RETRY_AFTER_SECONDS = 60;
/** Seconds in the `Retry-After` header of a server that is closed: it restarts, or another instance serves. */
export const RETRY_AFTER_CLOSED_SECONDS = 5;
