// suite.js — the invariance suite for session.wasm, in Node and in browsers: a plain script that defines
// `raddleSuite`.
//
//     const { text, wrong, runs } = raddleSuite.all(module, [{ name, text }, …], randomCount);
//
// `text` tells every run, as tests/wasm/native.c does: both have to be equal byte by byte. `wrong` has a line for each
// run that ended by itself and differs from others of its seed and sessions in digest or in normalized trace: N,
// policy, capacity, the order in which coroutines begin, and how the fuel is cut up, must not matter. "Handled" are
// runs in which handlers answer: `twin` here, and the one in native.c.
(function (root) {
  "use strict";

  const ns = [1, 2, 3, 7, "all"];
  const seeds = [1n, 2n, (1n << 64n) - 1n];
  const enough = 20000n;
  const short = 9n;
  const counters = ["rounds", "instructions", "messages", "effects", "sessions", "closed", "faulted", "coroutines",
                    "ready", "blocked", "ended"];

  // ---- The handler --------------------------------------------------------------------------------------------------

  function remember(state, field) {
    const more = typeof field === "bigint" ? field : BigInt(typeof field === "string" ? field.length : field);
    state.sum = Number(BigInt.asUintN(32, BigInt(state.sum) + more));
  }

  function valueOf(type, name, e, i) {
    if (type === "int") return BigInt.asIntN(64, e.draw ^ BigInt(e.state.sum + i));
    return type === "bool" ? (e.state.calls + i) % 2 === 0 : `${name}-${e.state.calls}-${i}`;
  }

  // Depends on what it is given and on the state of its coroutine. Blocks, fails and says nonsense now and then.
  function twin(e) {
    e.state.calls = (e.state.calls ?? 0) + 1;
    e.state.sum ??= 0;
    if (e.state.calls % 5 === 3) return raddleSession.blocked;
    if (e.draw % 127n === 0n) return raddleSession.failed;
    if (e.draw % 127n === 1n) return {};
    for (const field of e.fields) remember(e.state, field);
    if (e.kind === "produce") return e.types.map((type, i) => valueOf(type, e.name, e, i));
    if (e.kind !== "select") return undefined;
    const { name, partner, types } = e.options[Number((e.draw >> 7n) % BigInt(e.options.length))];
    return { choose: name, to: partner, fields: types.map((type, i) => valueOf(type, name, e, i)) };
  }

  // ---- Runs ---------------------------------------------------------------------------------------------------------

  const wordOf = (register) => (typeof register === "string" ? `"${register}"` : String(register));

  function tellCoroutine(c) {
    const edge = c.from === null ? "" : ` ${c.from}>${c.to}`;
    const wait = `${c.waits ?? "no wait"}${edge}`;
    return `  ${c.session} ${c.thread} of ${c.role}: ${c.phase}, ${wait}, ${c.fault ?? "no fault"}, ` +
           `line ${c.line}, ${c.events} ${c.effects} [${c.registers.map(wordOf).join(" ")}]\n`;
  }

  // { seed, sessions, capacity, start, n, policy, fuel, slice, handled }: of a slice of 0, all fuel at once.
  function runOnce(module, text, o) {
    const { fuel, slice = 0n, handled = false, ...options } = o;
    let vm;
    try {
      vm = module.open(text, handled ? { ...options, handlers: { "*": twin } } : options);
    } catch (error) {
      const nothing = Object.fromEntries(counters.map((name) => [name, 0]));
      return { end: "refused", error: error.message, trace: "", report: "", looked: "", ...nothing };
    }
    const step = slice || fuel;
    let r = vm.run(step);
    const looked = slice ? vm.coroutines().map(tellCoroutine).join("") : "";
    for (let used = step; r.end === "exhausted" && used < fuel; used += step) r = vm.run(step);
    const result = { ...r, looked, trace: options.trace === false ? "" : vm.trace(), report: vm.report() };
    vm.close();
    return result;
  }

  class Teller {
    constructor(module) {
      this.module = module;
      this.parts = [];
      this.wrong = [];
      this.runs = 0;
      this.before = null;
      this.groups = new Map();
    }

    tell(name, text, o) {
      const r = this.module.runOnce ? this.module.runOnce(text, o) : runOnce(this.module, text, o);
      const title = `${name} seed=${o.seed} sessions=${o.sessions} capacity=${o.capacity} start=${o.start} ` +
                    `n=${o.n === "all" ? 0 : o.n} policy=${o.policy} fuel=${o.fuel} slice=${o.slice ?? 0} ` +
                    `handled=${o.handled ? 1 : 0}`;
      const same = r.trace === this.before;
      const numbers = counters.map((counter) => r[counter]).join(" ");
      const told = `${title}: ${r.end} ${r.end === "refused" ? r.error : r.digest} ${numbers}${same ? " same" : ""}\n`;
      this.parts.push(told, r.looked, r.report, same ? "" : r.trace);
      this.before = r.trace;
      this.runs++;
      this.compare(`${name} seed=${o.seed} sessions=${o.sessions} handled=${o.handled}`, title, r, o.handled);
    }

    // All N and policies.
    tellAll(name, text, o) {
      for (const n of ns) {
        for (let policy = 0; policy < 3; policy++) this.tell(name, text, { ...o, n, policy });
      }
    }

    compare(group, title, r, handled) {
      const faulted = r.faulted > 0; // how far others have come when one of them faults, is nobody's promise
      if (r.end === "exhausted" || (handled && faulted)) return; // nor is it which of two comes first
      const first = this.groups.get(group);
      if (first === undefined) {
        this.groups.set(group, { title, end: r.end, digest: r.digest, trace: r.trace });
        return;
      }
      for (const what of faulted ? ["end", "digest"] : ["end", "digest", "trace"]) {
        if (r[what] !== first[what]) this.wrong.push(`${title}: another ${what} than ${first.title}`);
      }
    }
  }

  function tellFile(teller, name, text) {
    for (const seed of seeds) {
      for (const sessions of [1, 4]) {
        for (const capacity of [1, 3]) {
          for (const start of [0n, 7n]) {
            teller.tellAll(name, text, { seed, sessions, capacity, start, fuel: enough });
          }
        }
      }
    }
    teller.tellAll(name, text, { seed: 5n, sessions: 3, capacity: 1, start: 0n, fuel: short });
    for (const slice of [0n, short]) {
      teller.tellAll(name, text, { seed: 6n, sessions: 3, capacity: 1, start: 0n, fuel: enough, slice, handled: true });
    }
  }

  // Fewer runs of more protocols; their texts are told, too.
  function tellRandom(teller, protocol) {
    const name = `random-${protocol}`;
    const text = teller.module.generate(protocol);
    teller.parts.push(`${name}:\n${text}`);
    const o = { seed: BigInt(protocol), sessions: 2, capacity: 1, fuel: enough };
    for (const start of [0n, 7n]) teller.tellAll(name, text, { ...o, start });
    teller.tell(name, text, { ...o, start: 0n, n: 2, policy: 1, slice: short, handled: true });
    teller.tell(name, text, { ...o, start: 7n, n: "all", policy: 2, handled: true });
  }

  function all(module, files, randomCount = 0) {
    const teller = new Teller(module);
    for (const file of files) tellFile(teller, file.name, file.text);
    for (let i = 0; i < randomCount; i++) tellRandom(teller, i);
    return { text: teller.parts.join(""), wrong: teller.wrong, runs: teller.runs };
  }

  root.raddleSuite = { all, runOnce, twin };
})(globalThis);
