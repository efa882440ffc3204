// run.js FILE [--n N] [--policy P] [--sessions S] [--capacity K] [--seed S] [--start S] [--fuel F] [--handlers FILE.js]
//        [--trace | --ticks]
// — runs a protocol in Node: prints how it ended, or with --trace what each thread saw, or with --ticks every event in
// order, with its round. Handlers are what a module exports, functions by the names of messages; what has none is drawn. This file is beside session.wasm, in the
// directory that tools/wasm.sh makes. Without --seed one is taken from the system, and printed on stderr.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { parseArgs } = require("node:util");
require("./session.js");

const names = ["n", "policy", "sessions", "capacity", "seed", "start"];

// "all" and names of policies stay words; seeds, starts and fuel have 64 bits.
function optionOf(name, word) {
  if (!/^[0-9]+$/.test(word)) return word;
  return ["seed", "start", "fuel"].includes(name) ? BigInt(word) : Number(word);
}

async function main() {
  const options = { trace: { type: "boolean", default: false }, ticks: { type: "boolean", default: false } };
  for (const name of [...names, "fuel", "handlers"]) options[name] = { type: "string" };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (positionals.length !== 1) throw new Error("one file, please");
  const module = await raddleSession.load(fs.readFileSync(path.join(__dirname, "session.wasm")));
  const wanted = { trace: values.trace || values.ticks };
  for (const name of names) if (values[name] !== undefined) wanted[name] = optionOf(name, values[name]);
  if (values.handlers !== undefined) wanted.handlers = require(path.resolve(values.handlers));
  const vm = module.open(fs.readFileSync(positionals[0], "utf8"), wanted);
  if (values.seed === undefined) console.error(`seed ${vm.seed}`);
  const r = vm.run(values.fuel === undefined ? undefined : optionOf("fuel", values.fuel));
  for (const error of vm.errors) console.error(error.message);
  const told = `${r.end} ${r.digest}: ${r.rounds} rounds, ${r.instructions} instructions, ${r.messages} messages\n`;
  fs.writeFileSync(1, wanted.trace ? vm.trace({ normalize: !values.ticks }) : told + vm.report());
  vm.close();
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 2;
});
