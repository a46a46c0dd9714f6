/** The minimal client over `fetch`: one POST per call, from which it reads the text of the result. */
export async function connect([url]) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  let id = 0;
  return {
    tools: [],
    call: async (message) => {
      const params = { name: 'echo', arguments: { message } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method: 'tools/call', params });
      const response = await fetch(url, { method: 'POST', headers, body });
      return (await response.json()).result.content[0].text;
    },
    close: async () => {},
  };
}
