// node.js WEB COUNT FILE... — the suite in Node, with so many random protocols. WEB is the folder that tools/wasm.sh
// made. The runs are told on stdout; what is wrong on stderr, with status 1.
//     node.js --bench WEB FILE — instructions a second, with 1,000 sessions
"use strict";
const fs = require("node:fs");
const path = require("node:path");
require("./suite.js");

function load(web) {
  require(path.resolve(web, "session.js"));
  return raddleSession.load(fs.readFileSync(path.join(web, "session.wasm")));
}

async function suite(web, randomCount, paths) {
  const machine = await load(web);
  const files = paths.map((p) => ({ name: path.basename(p), text: fs.readFileSync(p, "utf8") }));
  const { text, wrong } = raddleSuite.all(machine, files, randomCount);
  fs.writeFileSync(1, text);
  if (wrong.length > 0) fs.writeFileSync(2, wrong.join("\n") + "\n");
  process.exitCode = wrong.length > 0 ? 1 : 0;
}

// The best of ten, in time of the processor: others use this machine, too.
async function bench(web, file) {
  const machine = await load(web);
  const text = fs.readFileSync(file, "utf8");
  let best = 0;
  for (let i = 0; i < 10; i++) {
    let instructions = 0n;
    const begin = process.cpuUsage();
    for (let k = 0; k < 50; k++) {
      const vm = machine.open(text, { n: 1, policy: 0, sessions: 1000, seed: 1n, trace: false });
      instructions += vm.run().instructions;
      vm.close();
    }
    const { user, system } = process.cpuUsage(begin);
    best = Math.max(best, (Number(instructions) / (user + system)) * 1e6);
  }
  console.log(`node: ${(best / 1e6).toFixed(1)} million instructions/s`);
}

const [first, second, ...rest] = process.argv.slice(2);
(first === "--bench" ? bench(second, rest[0]) : suite(first, Number(second), rest)).catch((error) => {
  console.error(error);
  process.exitCode = 2;
});
