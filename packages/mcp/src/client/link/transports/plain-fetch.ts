/** `fetch` as transports call it. */
export type PlainFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;
