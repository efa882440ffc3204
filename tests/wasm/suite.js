// suite.js — the invariance suite for session.wasm, in Node and in browsers: a plain script that defines
// `raddleSuite`.
//
//     const { text, wrong, runs } = raddleSuite.all(machine, [{ name, text }, …], randomCount);
//
// `text` tells every run, as tests/wasm/native.c does: both have to be equal byte by byte. `wrong` has a line for each
// run that ended by itself and differs from others of its seed and sessions in digest or in normalized trace: N,
// policy, capacity and the order in which coroutines begin must not matter.
(function (root) {
  "use strict";

  const ns = [1, 2, 3, 7, "all"];
  const seeds = [1n, 2n, (1n << 64n) - 1n];
  const enough = 20000n;
  const short = 9n;

  class Teller {
    constructor(machine) {
      this.machine = machine;
      this.parts = [];
      this.wrong = [];
      this.runs = 0;
      this.before = null;
      this.groups = new Map();
    }

    tell(name, text, o) {
      const r = this.machine.run(text, o);
      const title = `${name} seed=${o.seed} sessions=${o.sessions} capacity=${o.capacity} start=${o.start} ` +
                    `n=${o.n === "all" ? 0 : o.n} policy=${o.policy} fuel=${o.fuel}`;
      const same = r.trace === this.before;
      const told = `${title}: ${r.end} ${r.end === "refused" ? r.error : r.digest} ${r.rounds} ` +
                   `${r.instructions} ${r.messages} ${r.effects} ${r.faulted}${same ? " same" : ""}\n`;
      this.parts.push(told, r.report, same ? "" : r.trace);
      this.before = r.trace;
      this.runs++;
      this.compare(`${name} seed=${o.seed} sessions=${o.sessions}`, title, r);
    }

    // All N and policies.
    tellAll(name, text, o) {
      for (const n of ns) {
        for (let policy = 0; policy < 3; policy++) this.tell(name, text, { ...o, n, policy });
      }
    }

    compare(group, title, r) {
      if (r.end === "exhausted") return;
      const first = this.groups.get(group);
      if (first === undefined) {
        this.groups.set(group, { title, end: r.end, digest: r.digest, trace: r.trace });
        return;
      }
      const faulted = r.faulted > 0n; // how far others have come when one of them faults, is nobody's promise
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
  }

  // Fewer runs of more protocols; their texts are told, too.
  function tellRandom(teller, protocol) {
    const name = `random-${protocol}`;
    const text = teller.machine.generate(protocol);
    teller.parts.push(`${name}:\n${text}`);
    for (const start of [0n, 7n]) {
      teller.tellAll(name, text, { seed: protocol, sessions: 2, capacity: 1, start, fuel: enough });
    }
  }

  function all(machine, files, randomCount = 0) {
    const teller = new Teller(machine);
    for (const file of files) tellFile(teller, file.name, file.text);
    for (let i = 0; i < randomCount; i++) tellRandom(teller, i);
    return { text: teller.parts.join(""), wrong: teller.wrong, runs: teller.runs };
  }

  root.raddleSuite = { all };
})(globalThis);
