/** As much of `fetch` as is used. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;
