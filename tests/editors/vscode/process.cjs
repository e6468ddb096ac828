// The server's process of one editor, told from all others by its state folder.
const fs = require('node:fs');

/** The process id; undefined while there is none. */
function serverOf(state) {
  const ids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = ids.find((id) => {
    try {
      const isServer = fs.readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0')[1] === 'lsp';
      return isServer && fs.readFileSync(`/proc/${id}/environ`, 'utf8').split('\0').includes(`UNDERSTUDY_STATE_DIR=${state}`);
    } catch {
      // It ended while we looked.
      return false;
    }
  });
  return found === undefined ? undefined : Number(found);
}

module.exports = { serverOf };
