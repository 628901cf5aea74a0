// A session of an official TypeScript client: list the tools, call one well, one badly, and one that is not there.
//
// session.mjs CLIENT (URL GOOD BAD)... prints what the client saw at each URL, as one line of JSON. CLIENT is `sdk` (version 1) or, of the
// client of version 2, `client:auto`, `client:legacy` or `client:2026-07-28`.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [kind, ...servers] = process.argv.slice(2);
const [library, mode] = kind.split(':');
// The packages are installed elsewhere; LEAGUE_PEERS says where.
const require = createRequire(`${process.env.LEAGUE_PEERS}/node/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)));

async function connected(url) {
  const me = { name: 'league-test', version: '1.0.0' };
  if (library === 'sdk') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const client = new Client(me);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
  const chosen = mode === 'auto' || mode === 'legacy' ? mode : { pin: mode };
  const client = new Client(me, { versionNegotiation: { mode: chosen } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

async function session(url, good, bad) {
  const client = await connected(url);
  const call = (name) => client.callTool({ name, arguments: {} });
  const { tools } = await client.listTools();
  const done = await call(good);
  const wrong = await call(bad);
  const refusal = await call('no_such_tool').then((result) => (result.isError ? result.content[0].text : null), String);
  const seen = {
    revision: client.getNegotiatedProtocolVersion?.(),
    tools: tools.map((tool) => tool.name),
    answer: done.structuredContent,
    good_is_error: done.isError ?? false,
    bad_is_error: wrong.isError ?? false,
    bad_says: wrong.content[0].text,
    refusal,
  };
  await client.close();
  return seen;
}

const seen = [];
for (let at = 0; at < servers.length; at += 3) {
  seen.push(await session(...servers.slice(at, at + 3)));
}
console.log(JSON.stringify(seen));
