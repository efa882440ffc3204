// facts.js WEB — what else holds of session.wasm and session.js, in Node: a line for each fact, "0 FACT", or
// "1 FACT: why not".
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
require("./suite.js");

const example = "protocol P { roles A, B loop L { choice at A { A -> B: x(int) continue L } or { A -> B: y } } }";
const pair = "protocol P { roles A, B\nA -> B: x(int)\nB -> A: y(int) }";

// { end, digest, … } of one run.
function once(module, text, { fuel, ...options } = {}) {
  const vm = module.open(text, options);
  try {
    return { ...vm.run(fuel), seed: vm.seed, errors: vm.errors, report: vm.report(), trace: vm.trace() };
  } finally {
    vm.close();
  }
}

// What a call throws: an error of ours, with this code.
function refused(code, call) {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof raddleSession.RaddleSessionError, `${error.stack}`);
    assert.equal(error.code, code, error.message);
    return error;
  }
  return assert.fail(`nothing was thrown; expected ${code}`);
}

const suiteFacts = {
  "the suite sees a digest that depends on N": (module) => {
    const planted = { runOnce: (text, o) => ({ ...raddleSuite.runOnce(module, text, o), digest: `${o.n}` }) };
    assert.equal(raddleSuite.all(module, [{ name: "p", text: example }]).wrong.length, 0);
    assert.ok(raddleSuite.all(planted, [{ name: "p", text: example }]).wrong.length > 0);
  },
  "the suite sees a trace that depends on the start": (module) => {
    const planted = { runOnce: (text, o) => ({ ...raddleSuite.runOnce(module, text, o), trace: `${o.start}` }) };
    assert.ok(raddleSuite.all(planted, [{ name: "p", text: example }]).wrong.length > 0);
  },
};

const moduleFacts = {
  "the module asks for handlers and for a way to complain, and for nothing else": (module, bytes) => {
    const asked = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).map((i) => i.name);
    assert.deepEqual(asked.sort(), ["fd_close", "fd_seek", "fd_write", "invoke", "proc_exit"]);
  },
  "without a seed one is drawn, and told": (module) => {
    const some = [1, 2, 3].map(() => once(module, example, { sessions: 8 }));
    assert.equal(new Set(some.map((r) => r.seed)).size, 3);
    for (const r of some) assert.equal(once(module, example, { sessions: 8, seed: r.seed }).digest, r.digest);
  },
  "options that make no sense are refused by name": (module) => {
    const wrong = { n: [0, -1, 1.5, "many"], policy: ["best", 3], sessions: [-1, "2"], capacity: [0],
                    seed: [-1, 1.5, "x"], start: [1n << 64n], full: ["burst"], protocol: [7], handlers: [null, { x: 5 }], fuel: [1] };
    for (const [option, values] of Object.entries(wrong)) {
      for (const value of values) {
        const error = refused("option", () => module.open(example, { [option]: value }));
        assert.match(error.message, option === "fuel" ? /^options: / : new RegExp(`^${option}`));
      }
    }
    refused("option", () => module.open(example, null));
    refused("option", () => module.open(undefined));
    refused("option", () => module.open(example, { protocol: "P\0Q" }));
    assert.match(refused("input", () => module.open(example, { capacity: 5000 })).message, /capacity: 5000/);
    assert.match(refused("input", () => module.open(example, { protocol: "Q" })).message, /no protocol Q/);
    const nobody = refused("input", () => module.open(example, { handlers: { z: () => 1n } }));
    assert.match(nobody.message, /nothing is called z/);
    refused("limit", () => module.open(example, { sessions: 4000000000 }));
  },
  "a bad text is refused with its line": (module) => {
    const error = refused("input", () => module.open("protocol P {\n  roles A, B\n  A -> C: x\n}"));
    assert.equal(error.message, "protocol:3:8: protocol P has no role C");
    assert.deepEqual([error.line, error.column], [3, 8]);
    for (const text of ["", "\0", "protocol", "\u{1f600}", "protocol P { roles A, B A -> B: x("]) {
      assert.ok(refused("input", () => module.open(text)).line >= 1);
    }
  },
  "what does not fit into 32 bits is out of memory": (module) => {
    const wide = "protocol P { roles W[1..150] for i in 1..150 { for j in i+1..150 {\n" +
                 "W[i] -> W[j]: x(int, int, int, int) W[j] -> W[i]: y(int, int, int, int) } } }";
    refused("memory", () => module.open(wide, { seed: 1, capacity: 4096, trace: false }));
    assert.equal(once(module, wide, { seed: 1, trace: false }).end, "complete");
  },
  "the stack is large enough for what the reader lets through": (module) => {
    const choices = `protocol P { roles A, B ${"choice at A { A -> B: x ".repeat(199)}` +
                    `${"} or { A -> B: y }".repeat(199)} }`;
    const parts = `protocol P { roles A, B ${"par { ".repeat(199)} A -> B: x ${"} and { A -> B: y }".repeat(199)} }`;
    const long = `protocol P { roles A, B ${"A -> B: x ".repeat(20000)} }`;
    for (const text of [choices, parts, long]) {
      assert.equal(once(module, text, { seed: 1, trace: false }).end, "complete");
    }
    const deep = refused("input", () => module.open("protocol P { roles A, B " + "par { ".repeat(100000)));
    assert.match(deep.message, /nested too deeply/);
  },
  "hundreds of machines leave nothing behind": async (_, bytes) => {
    const fresh = await raddleSession.load(bytes); // with no memory to spare
    const names = Array.from({ length: 64 }, (_, i) => `m${i}`);
    const text = `protocol P { roles A, B ${names.map((name) => `A -> B: ${name}(text)`).join(" ")} }`;
    const long = "x".repeat(3000);
    const handlers = Object.fromEntries(names.map((name) => [name, () => long]));
    const run = () => once(fresh, text, { seed: 1, handlers });
    const refuse = () => refused("input", () => fresh.open(`${text} protocol Q {`));
    const stop = () => {
      const vm = fresh.open(text, { seed: 1, handlers });
      vm.run(3); // in the middle of it
      for (let i = 0; i < 20; i++) assert.ok(vm.trace().length + vm.report().length > 60);
      vm.close();
    };
    const all = [run, refuse, stop, () => fresh.generate(5)];
    for (const one of all) for (let i = 0; i < 5; i++) one();
    assert.equal(run().faulted, 0);
    const before = fresh.memoryBytes();
    for (const one of all) for (let i = 0; i < 200; i++) one();
    assert.equal(fresh.memoryBytes(), before);
  },
  "every option does what it says": (module) => {
    const flood = "protocol P { roles A, B loop L { choice at A { A -> B: x(int) continue L } or { A -> B: y } }\n" +
                  "code A { set r2 5\nset r3 1\ntop: send B x\nsub r2 r2 r3\njumpif r2 top\nsend B y\n} }";
    const raw = (text, o) => {
      const vm = module.open(text, { seed: 1, ...o });
      const { rounds, faulted, end } = vm.run(o?.fuel);
      const told = { rounds: Number(rounds), faulted, end, events: vm.trace({ normalize: false }), report: vm.report() };
      vm.close();
      return told;
    };
    const orders = [{ n: 1 }, { n: 2 }, { n: "all" }, { n: 2, policy: "round-robin" }, { n: 2, policy: "progress" },
                    { start: 5 }, { seed: 2 }, { capacity: 3 }].map((o) => raw(flood, { sessions: 3, ...o }));
    const differ = orders.map((o) => o.events);
    assert.equal(new Set(differ.slice(0, 6)).size, 6); // another order each
    assert.equal(raw(flood, { sessions: 3, n: "inf" }).events, differ[2]);
    assert.ok(orders[7].rounds < orders[0].rounds); // fewer waits
    assert.notEqual(once(module, example, { seed: 1, sessions: 9 }).digest, once(module, example, { seed: 2, sessions: 9 }).digest);
    assert.match(raw(flood, { full: "error" }).report, /faulted: the buffer is full/);
    assert.equal(raw(flood, { full: "resize" }).faulted, 0);
    assert.equal(raw("protocol Q { roles A, B A -> B: q } protocol P { roles A, B A -> B: p }", { protocol: "Q" })
      .events.includes(" sent q to B"), true);
    assert.equal(once(module, example, { seed: 1, trace: false }).trace, "");
  },
};

const runFacts = {
  "fuel is rounds: runs go on where they ended, as one run would": (module) => {
    const o = { seed: 3, sessions: 5, n: 2, handlers: { "*": raddleSuite.twin } };
    const whole = once(module, example, o);
    for (const fuel of [1, 7n, 100]) {
      const vm = module.open(example, o);
      const rounds = [];
      let r;
      do {
        r = vm.run(fuel);
        rounds.push(r.rounds);
      } while (r.end === "exhausted");
      assert.deepEqual([r.end, r.digest, r.rounds, vm.trace()], [whole.end, whole.digest, whole.rounds, whole.trace]);
      if (rounds.length > 1) assert.equal(rounds[0], BigInt(fuel));
      assert.equal(vm.run(fuel).rounds, whole.rounds); // the end stays the end
      vm.close();
    }
    const vm = module.open(example, o);
    for (const fuel of [0, -1, 1.5, "1", 1n << 64n, null]) refused("option", () => vm.run(fuel));
    vm.close();
  },
  "between runs everything can be looked at": (module) => {
    const vm = module.open("protocol P { roles A, B\nA -> B: x(int, text, bool)\nB -> A: y }", {
      seed: 1, handlers: { x: (e) => (e.kind === "produce" ? [-5n, "five", true] : undefined) } });
    const phases = () => vm.coroutines().map((c) => `${c.thread} ${c.phase} ${c.waits} ${c.from} ${c.to} ${c.line}`);
    const begins = "blocked begins in the next round null null 2";
    assert.deepEqual(phases(), [`A ${begins}`, `B ${begins}`]);
    assert.equal(vm.trace(), "");
    assert.equal(vm.run(1).end, "exhausted");
    assert.match(vm.trace(), /^0 A invoked x 0 [0-9a-f]{16}\n$/);
    assert.match(vm.trace({ normalize: false }), /^0 0 A invoked x 0 [0-9a-f]{16}\n$/);
    assert.deepEqual(vm.coroutines()[0].registers, [0n, -5n, "five", true]);
    vm.run(3);
    assert.deepEqual(phases(), ["A blocked waits for a message B A 3", "B ready null null null 2"]);
    assert.equal(vm.report(), "session 0, A: waits for a message on B -> A (0 of 1 in the buffer), line 3\n");
    const { end, rounds, sessions, closed, ended } = vm.run();
    assert.deepEqual([end, sessions, closed, ended], ["complete", 1, 1, 2]);
    assert.equal(vm.look().rounds, rounds);
    assert.equal(vm.trace({ session: 1 }), "");
    vm.open("P", 2); // and more sessions can be opened
    assert.equal(vm.run().closed, 3);
    assert.deepEqual(vm.coroutines().map((c) => c.session), ["0", "0", "1", "1", "2", "2"]);
    vm.close();
  },
  "several machines are open at a time, and do not touch each other": (module) => {
    const text = "protocol P { roles A, B loop L { A -> B: x(int)\n" +
                 "choice at B { B -> A: y(text) continue L } or { B -> A: z } } }";
    const options = [1, 2, 3, 4].map((seed) => ({ seed, sessions: 3, n: seed, handlers: { "*": raddleSuite.twin } }));
    const alone = options.map((o) => once(module, text, o));
    const vms = options.map((o) => module.open(text, o));
    for (let going = vms; going.length > 0;) going = going.filter((vm) => vm.run(3).end === "exhausted");
    vms.forEach((vm, i) => assert.deepEqual([vm.look().digest, vm.trace()], [alone[i].digest, alone[i].trace]));
    vms[1].close();
    assert.equal(vms[0].trace(), alone[0].trace);
    for (const vm of vms) vm.close();
  },
  "a closed machine says so, and can be closed again": (module) => {
    const vm = module.open(example, { seed: 1 });
    vm.close();
    vm.close();
    for (const call of ["run", "look", "trace", "report", "coroutines", "open"]) refused("closed", () => vm[call]());
  },
  "a module that has failed is not used again": async (module, bytes) => {
    const instantiate = WebAssembly.instantiate;
    let calls = 0;
    let vm;
    try {
      WebAssembly.instantiate = async (b, imports) => {
        const { exports } = (await instantiate(b, imports)).instance;
        const trap = () => {
          throw new WebAssembly.RuntimeError("unreachable");
        };
        return { instance: { exports: { ...exports, rad_wasm_report: trap } } };
      };
      const other = await raddleSession.load(bytes);
      const inner = other.open(example, { seed: 1 });
      vm = other.open(pair, { seed: 1, sessions: 3, handlers: { x: () => calls++ || inner.report() } });
    } finally {
      WebAssembly.instantiate = instantiate;
    }
    assert.match(refused("broken", () => vm.run()).message, /unreachable; load it anew$/);
    assert.equal(calls, 1); // it ends there
    refused("broken", () => vm.look());
  },
};

const handlerFacts = {
  "handlers get what native ones get": (module) => {
    const seen = [];
    const text = "protocol P { roles A, W[1..2]\nA -> W[1]: x(n: int, text)\nA does d\n" +
                 "choice at A { A -> W[1]: y A -> W[2]: y } or { A -> W[1]: z(bool) A -> W[2]: z(bool) } }";
    const answers = { produce: [7, "seven"], select: { choose: "z", fields: [true] } };
    const vm = module.open(text, { seed: 1, handlers: { "*": (e) => {
      seen.push(e);
      return e.name === "z" && e.kind === "produce" ? false : answers[e.kind];
    } } });
    assert.equal(vm.run().faulted, 0, vm.report());
    assert.deepEqual(vm.errors, []);
    vm.close();
    const optionsOf = (e) => e.options.map((o) => `${o.name}>${o.partner}(${o.types})`);
    const told = seen.map((e) => [e.kind, e.session, e.role, e.thread, e.partner, e.name, e.occurrence, e.types, e.fields,
                                  optionsOf(e)].join(" "));
    assert.deepEqual(told.sort(), [
      "consume 0 W[1] W[1] A x 0 int,text 7,seven ", "consume 0 W[1] W[1] A z 1 bool true ",
      "consume 0 W[2] W[2] A z 0 bool false ", "does 0 A A  d 1   ",
      "produce 0 A A W[1] x 0 int,text  ", "produce 0 A A W[2] z 3 bool  ",
      "select 0 A A   2   y>W[1](),z>W[1](bool)"]);
    for (const e of seen) assert.equal(typeof e.draw, "bigint");
  },
  "values come through whole: 64 bits, zeros, any character": (module) => {
    for (const number of [0n, -1n, (1n << 63n) - 1n, -(1n << 63n), 5, Number.MAX_SAFE_INTEGER]) {
      const seen = [];
      const x = (e) => (e.kind === "produce" ? number : void seen.push(e.fields[0]));
      once(module, pair, { seed: 1, handlers: { x } });
      assert.deepEqual(seen, [BigInt(number)]);
    }
    for (const text of ["", "a\0b", "\ufeffbom", "\u{1f600}ü", "\0", "x".repeat(65535), "\ud800"]) {
      const seen = [];
      const o = { seed: 1, handlers: { x: (e) => (e.kind === "produce" ? text : void seen.push(e.fields[0])) } };
      assert.equal(once(module, "protocol P { roles A, B A -> B: x(text) }", o).faulted, 0);
      assert.deepEqual(seen, [text === "\ud800" ? "\ufffd" : text]); // half a character is none
    }
  },
  "state is of a coroutine: session, role, parallel branch": (module) => {
    const text = "protocol P { roles A, B loop L { par { A -> B: a(int) } and { A -> B: b(int) }\n" +
                 "choice at B { B -> A: more continue L } or { B -> A: over } } }";
    for (const [n, policy] of [[1, 0], [2, 1], ["all", 2]]) {
      let calls = 0;
      const states = new Map();
      const vm = module.open(text, { seed: 1, sessions: 3, n, policy, handlers: { "*": (e) => {
        const who = `${e.session} ${e.thread}`;
        if (!states.has(who)) states.set(who, e.state);
        assert.equal(e.state, states.get(who));
        assert.equal(e.state.who ?? who, who);
        assert.equal(e.state.count ?? 0, e.occurrence);
        Object.assign(e.state, { who, count: e.occurrence + 1 });
        calls++;
        if (e.kind === "select") return e.occurrence < 3 ? "more" : "over";
        return e.kind === "produce" ? e.occurrence : undefined;
      } } });
      assert.equal(vm.run().end, "complete");
      assert.deepEqual(vm.errors, []);
      assert.equal(new Set(states.values()).size, 15); // A.1, A.2, B, B.1, B.2 of each session
      assert.ok(calls > 45);
      vm.close();
    }
    const kept = [];
    once(module, example, { seed: 4, handlers: { x: (e) => {
      if (e.role !== "A") return undefined;
      kept.push(e.state);
      e.state = `${e.occurrence}`; // whatever it is
      return e.occurrence < 3 ? { choose: "x", fields: [1] } : "y";
    } } });
    assert.deepEqual(kept, [{}, "0", "1", "2"]);
  },
  "what a handler throws faults its session, and is told; the others go on": (module) => {
    const thrown = [new Error("no stock"), "text", undefined, null, 7, { message: "like an error" }];
    for (const what of thrown) {
      const vm = module.open(pair, { seed: 1, sessions: 3, n: "all", handlers: { y: (e) => {
        if (e.session === "1" && e.kind === "produce") throw what;
        return 1n;
      } } });
      const { end, faulted, closed } = vm.run();
      assert.deepEqual([end, faulted, closed], ["complete", 1, 2]);
      assert.equal(vm.report(), "session 1, B: faulted: the handler failed, line 3\n");
      assert.equal(vm.errors.length, 1);
      const { code, session, role, thread, effect, occurrence, cause, message } = vm.errors[0];
      assert.deepEqual([code, session, role, thread, effect, occurrence], ["handler", "1", "B", "B", "y", 1]);
      assert.equal(cause, what);
      assert.match(message, /^session 1, B: handler of y: threw /);
      assert.equal(vm.coroutines()[2].phase, "faulted");
      vm.close();
    }
    const failing = once(module, pair, { seed: 1, handlers: { y: () => raddleSession.failed } });
    assert.deepEqual([failing.faulted, failing.errors], [1, []]);
  },
  "nonsense faults its session as an answer that does not fit, and says what was expected": (module) => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const produced = [undefined, null, 1.5, "1", true, NaN, 1n << 63n, -(1n << 63n) - 1n, [], [1n, 2n], [undefined], {},
                      () => 1n, Symbol("x"), new Date(0)];
    const selected = [undefined, null, 5, "z", "x", { choose: "x", fields: ["1"] }, { choose: "x", fields: [1, 2] },
                      { choose: "y", to: "C" }, { choose: "y", fields: [1] }, [], { choose: 0 }];
    const text = "protocol P { roles A, B\nA -> B: p(int)\nchoice at A { A -> B: x(int) } or { A -> B: y } }";
    for (const [name, kind, answers] of [["p", "produce", produced], ["x", "select", selected]]) {
      for (const answer of answers) {
        const handlers = { [name]: (e) => (e.kind === kind ? answer : undefined) };
        const r = once(module, text, { seed: 1, sessions: 2, handlers });
        assert.equal(r.end, "complete");
        assert.equal(r.faulted, 2, `${String(answer)} was taken`);
        assert.match(r.report, /^session 0, A: faulted: the handler's answer does not fit, line [23]\n/);
        assert.deepEqual(r.errors.map((e) => e.code), ["answer", "answer"]);
        assert.match(r.errors[0].message, /^session 0, A: handler of (p|x or y): .*expected /);
      }
    }
    const texts = "protocol P { roles A, B A -> B: x(text) }";
    const long = once(module, texts, { handlers: { x: () => "ü".repeat(40000) } });
    assert.match(long.errors[0].message, /field 0: the text has 80000 bytes, 65535 at most/);
    const gone = once(module, text, { handlers: { p: () => revoked.proxy } });
    assert.equal(gone.errors[0].code, "handler"); // looking at it throws
    const two = "protocol P { roles A, B, C choice at A { A -> B: y A -> C: y } or { A -> C: y A -> B: n } }";
    const named = (answer) => once(module, two, { handlers: { y: () => answer } });
    assert.match(named("y").errors[0].message, /{ choose } of y to B or y to C, and { to }: there are 2 such$/);
    assert.equal(named({ choose: "y", to: "C" }).faulted, 0);
  },
  "a promise is no answer": (module) => {
    const text = "protocol P { roles A, B A -> B: x(int) A does d }";
    for (const name of ["x", "d"]) {
      const r = once(module, text, { handlers: { [name]: async () => 1n } });
      assert.equal(r.faulted, 1);
      assert.deepEqual(r.errors.map((error) => error.code), ["answer"]);
      assert.match(r.errors[0].message, /a promise: answer raddleSession.blocked/);
    }
  },
  "a handler that blocks is asked again; with nothing else to do a run without fuel waits": (module) => {
    for (const policy of raddleSession.policies) {
      let asked = 0;
      const open = { x: false, y: false };
      const vm = module.open(pair, { seed: 1, sessions: 3, n: 2, policy, handlers: { "*": (e) => {
        asked++;
        return e.kind === "produce" && !open[e.name] ? raddleSession.blocked : 1n;
      } } });
      assert.equal(vm.run(50).end, "exhausted");
      assert.ok(asked > 20);
      assert.equal(vm.run().end, "waiting");
      assert.match(vm.report(), /^session 0, A: waits for its handler, line 2\n/);
      open.x = true;
      assert.equal(vm.run().end, "waiting");
      assert.match(vm.report(), /session 2, B: waits for its handler, line 3\n$/);
      open.y = true;
      assert.deepEqual([vm.run().end, vm.look().closed], ["complete", 3]);
      assert.equal(once(module, pair, { seed: 1, sessions: 3, handlers: { "*": () => 1n } }).digest, vm.look().digest);
      vm.close();
    }
    const patient = { "*": (e) => {
      e.state.asked = (e.state.asked ?? 0) + 1;
      return e.state.asked < 3 ? raddleSession.blocked : 1n;
    } };
    assert.equal(once(module, pair, { seed: 1, sessions: 3000, trace: false, handlers: patient }).end, "complete");
    const busy = { "*": (e) => (e.name === "x" ? raddleSession.blocked : 1n) };
    const endless = "protocol P { roles A, B, C, D\n" +
                    "par { A -> B: x(int) } and { loop L { C -> D: z(int) continue L } } }";
    assert.equal(once(module, endless, { seed: 1, fuel: 20000, trace: false, handlers: busy }).end, "exhausted");
  },
  "a handler cannot use its own machine, but may run another one": (module) => {
    for (const call of ["run", "look", "trace", "report", "coroutines", "open", "close"]) {
      const vm = module.open(pair, { seed: 1, handlers: { x: () => vm[call]() } });
      const { end, faulted } = vm.run();
      assert.deepEqual([end, faulted], ["complete", 1]);
      assert.equal(vm.errors[0].cause.code, "busy");
      vm.close();
    }
    const inner = () => once(module, pair, { seed: 9 }).digest;
    const expected = inner();
    const digests = [];
    const outer = { "*": (e) => {
      digests.push(inner());
      return e.kind === "produce" ? 1n : undefined;
    } };
    const plain = once(module, pair, { seed: 1, handlers: { "*": () => 1n } });
    assert.equal(once(module, pair, { seed: 1, handlers: outer }).digest, plain.digest);
    assert.deepEqual(new Set(digests), new Set([expected]));
    const deepest = [];
    const down = () => once(module, pair, { seed: 1, handlers: { x: (e) => {
      if (e.kind === "produce") deepest.push(...down().errors);
      return 1n;
    } } });
    assert.deepEqual(down().errors, []);
    assert.deepEqual(deepest.map((error) => error.cause.code), ["nested"]);
  },
};

async function main(web) {
  require(path.resolve(web, "session.js"));
  const bytes = fs.readFileSync(path.join(web, "session.wasm"));
  const module = await raddleSession.load(bytes);
  for (const [name, check] of Object.entries({ ...suiteFacts, ...moduleFacts, ...runFacts, ...handlerFacts })) {
    try {
      await check(module, bytes);
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
