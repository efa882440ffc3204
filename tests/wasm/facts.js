// facts.js WEB — what else holds of session.wasm, in Node: a line for each fact, "0 FACT", or "1 FACT: why not".
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
require("./suite.js");

const example = "protocol P { roles A, B loop L { choice at A { A -> B: x(int) continue L } or { A -> B: y } } }";

const facts = {
  "the suite sees a digest that depends on N": (machine) => {
    const planted = { run: (text, o) => ({ ...machine.run(text, o), digest: `${o.n}` }) };
    assert.equal(raddleSuite.all(machine, [{ name: "p", text: example }]).wrong.length, 0);
    assert.ok(raddleSuite.all(planted, [{ name: "p", text: example }]).wrong.length > 0);
  },
  "the suite sees a trace that depends on the start": (machine) => {
    const planted = { run: (text, o) => ({ ...machine.run(text, o), trace: `${o.start}` }) };
    assert.ok(raddleSuite.all(planted, [{ name: "p", text: example }]).wrong.length > 0);
  },
  "the module asks for nothing but a way to complain": (machine, bytes) => {
    const asked = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).map((i) => i.name);
    assert.deepEqual(asked.sort(), ["fd_close", "fd_seek", "fd_write", "proc_exit"]);
  },
  "without a seed one is drawn, and told": (machine) => {
    const some = [1, 2, 3].map(() => machine.run(example, { sessions: 8 }));
    assert.equal(new Set(some.map((r) => r.seed)).size, 3);
    for (const r of some) assert.equal(machine.run(example, { sessions: 8, seed: r.seed }).digest, r.digest);
  },
  "options that make no sense are refused": (machine) => {
    assert.throws(() => machine.run(example, { n: 0 }), /n: '0'/);
    assert.throws(() => machine.run(example, { policy: "best" }), /no policy 'best'/);
    assert.match(machine.run(example, { policy: 3 }).error, /no policy 3/);
    assert.match(machine.run(example, { capacity: 5000 }).error, /capacity: 5000/);
  },
  "what does not fit into 32 bits is out of memory": (machine) => {
    const wide = "protocol P { roles W[1..150] for i in 1..150 { for j in i+1..150 {\n" +
                 "W[i] -> W[j]: x(int, int, int, int) W[j] -> W[i]: y(int, int, int, int) } } }";
    assert.equal(machine.run(wide, { seed: 1, capacity: 4096, trace: false }).error, "out of memory");
    assert.equal(machine.run(wide, { seed: 1, trace: false }).end, "complete");
  },
  "the stack is large enough for what the reader lets through": (machine) => {
    const choices = `protocol P { roles A, B ${"choice at A { A -> B: x ".repeat(199)}` +
                    `${"} or { A -> B: y }".repeat(199)} }`;
    const parts = `protocol P { roles A, B ${"par { ".repeat(199)} A -> B: x ${"} and { A -> B: y }".repeat(199)} }`;
    const long = `protocol P { roles A, B ${"A -> B: x ".repeat(20000)} }`;
    for (const text of [choices, parts, long]) {
      assert.equal(machine.run(text, { seed: 1, trace: false }).end, "complete");
    }
    assert.match(machine.run("protocol P { roles A, B " + "par { ".repeat(100000), {}).error, /nested too deeply/);
  },
  "a thousand runs leave nothing behind": (machine) => {
    const run = () => machine.run(example, { seed: 1, sessions: 100 });
    for (let i = 0; i < 10; i++) run();
    const before = machine.memoryBytes();
    for (let i = 0; i < 1000; i++) run();
    assert.equal(machine.memoryBytes(), before);
  },
};

async function main(web) {
  require(path.resolve(web, "session.js"));
  const bytes = fs.readFileSync(path.join(web, "session.wasm"));
  const machine = await raddleSession.load(bytes);
  for (const [name, check] of Object.entries(facts)) {
    try {
      check(machine, bytes);
      console.log(`0 ${name}`);
    } catch (error) {
      console.log(`1 ${name}: ${error.message.replace(/\s+/g, " ")}`);
    }
  }
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
