// A provider of a language model that a walk plays: on loopback, with answers that come whole.
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

/** Each move is a call of a tool, `[name, arguments]`, in order. Answers what was asked so far and how to stop. */
function startProvider(moves) {
  const asked = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text) => { body += text; });
    request.on('end', () => {
      const move = request.url.endsWith('/chat/completions') ? moves[asked.push(body) - 1] : undefined;
      response.writeHead(move === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(move === undefined ? '{}' : JSON.stringify(completion(move, asked.length)));
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ asked, url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => server.close() }));
  });
}

function completion([name, args], number) {
  const call = { id: `call${number}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const usage = { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 };
  return { id: 'answer', object: 'chat.completion', model: 'scripted', choices: [{ index: 0, finish_reason: 'tool_calls', message }], usage };
}

/** The folder for `XDG_CONFIG_HOME` of a server that is to ask this provider, and whose user approves every plan. */
function configure(folder, url) {
  const lines = ['plan = "review"', '[model]', 'use = "scripted/model"', '[model.providers.scripted]', `base_url = "${url}"`, ''];
  fs.mkdirSync(path.join(folder, 'understudy'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'understudy', 'config.toml'), lines.join('\n'));
}

module.exports = { startProvider, configure };
