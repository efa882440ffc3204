// run.js FILE [--n N] [--policy P] [--sessions S] [--capacity K] [--seed S] [--start S] [--fuel F] [--trace]
// — runs a protocol in Node: prints how it ended, or with --trace what each thread saw. It stands beside session.wasm,
// in the folder that tools/wasm.sh makes. Without --seed one is drawn from the system, and printed on stderr.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { parseArgs } = require("node:util");
require("./session.js");

const names = ["n", "policy", "sessions", "capacity", "seed", "start", "fuel"];

// "all" and names of policies stay words; seeds, starts and fuel have 64 bits.
function optionOf(name, word) {
  if (!/^[0-9]+$/.test(word)) return word;
  return ["seed", "start", "fuel"].includes(name) ? BigInt(word) : Number(word);
}

async function main() {
  const options = { trace: { type: "boolean", default: false } };
  for (const name of names) options[name] = { type: "string" };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (positionals.length !== 1) throw new Error("one file, please");
  const machine = await raddleSession.load(fs.readFileSync(path.join(__dirname, "session.wasm")));
  const wanted = { trace: values.trace };
  for (const name of names) if (values[name] !== undefined) wanted[name] = optionOf(name, values[name]);
  const r = machine.run(fs.readFileSync(positionals[0], "utf8"), wanted);
  if (values.seed === undefined) console.error(`seed ${r.seed}`);
  if (r.end === "refused") throw new Error(r.error);
  const told = `${r.end} ${r.digest}: ${r.rounds} rounds, ${r.instructions} instructions, ${r.messages} messages\n`;
  fs.writeFileSync(1, values.trace ? r.trace : told + r.report);
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 2;
});
