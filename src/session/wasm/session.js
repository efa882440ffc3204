// session.js — session.wasm for JavaScript, in Node and in browsers alike: a plain script that defines
// `raddleSession`. The module asks its host for four calls of WASI; they stand here, so nothing else is needed.
//
//     const machine = await raddleSession.load(bytes);           // of session.wasm
//     const result = machine.run(text, { n: 3, policy: "progress", seed: 7n, sessions: 2 });
//     result.end, result.digest, result.trace, result.seed …
//
// Everything is a function of the text and the options. Only when no seed is given, one is drawn from the system, and
// the result says which.
(function (root) {
  "use strict";

  const ends = ["complete", "exhausted", "stuck", "no memory"];
  const policies = ["cooperative", "round-robin", "progress"];
  const numbers = ["rounds", "instructions", "messages", "effects", "faulted"];

  // What the module prints (an assertion that failed) becomes the message of the error that ends it.
  function hostOf(memory) {
    let said = "";
    const view = () => new DataView(memory().buffer);
    return {
      fd_write(fd, vectors, count, written) {
        let size = 0;
        for (let i = 0; i < count; i++) {
          const at = view().getUint32(vectors + 8 * i, true);
          const length = view().getUint32(vectors + 8 * i + 4, true);
          said += new TextDecoder().decode(new Uint8Array(memory().buffer, at, length));
          size += length;
        }
        view().setUint32(written, size, true);
        return 0;
      },
      fd_close: () => 0,
      fd_seek: () => 29, // a pipe
      proc_exit(status) {
        throw new Error(`session.wasm ended with status ${status}: ${said}`);
      },
    };
  }

  function systemSeed() {
    return root.crypto.getRandomValues(new BigUint64Array(1))[0];
  }

  function textAt(memory, at) {
    const bytes = new Uint8Array(memory.buffer);
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  function policyOf(policy) {
    const number = typeof policy === "string" ? policies.indexOf(policy) : policy;
    if (!(number >= 0)) throw new Error(`there is no policy '${policy}'; there are ${policies.join(", ")}`);
    return number;
  }

  function look(e, r) {
    const code = e.rad_wasm_end(r);
    const result = {
      end: code < 0 ? "refused" : ends[code],
      error: textAt(e.memory, e.rad_wasm_error(r)),
      digest: textAt(e.memory, e.rad_wasm_digest(r)),
      trace: textAt(e.memory, e.rad_wasm_trace(r)),
      report: textAt(e.memory, e.rad_wasm_report(r)),
    };
    numbers.forEach((name, i) => (result[name] = BigInt.asUintN(64, e.rad_wasm_number(r, i))));
    return result;
  }

  // n: 1 …, or "all"; sessions, capacity, fuel (rounds, 0: to the end), start (not 0: begin in an order drawn from
  // it), trace (false: none is kept).
  function run(e, text, options) {
    const o = { n: 1, policy: 0, sessions: 1, capacity: 1, start: 0n, fuel: 0n, trace: true, ...options };
    const policy = policyOf(o.policy);
    const n = o.n === "all" ? 0 : o.n;
    if (o.n !== "all" && !(Number.isInteger(n) && n > 0)) throw new Error(`n: '${o.n}' is neither 1 … nor "all"`);
    const seed = BigInt.asUintN(64, o.seed === undefined ? systemSeed() : BigInt(o.seed));
    const bytes = new TextEncoder().encode(text);
    const at = e.rad_wasm_take(bytes.length + 1);
    if (at === 0) throw new Error("no memory for the text");
    new Uint8Array(e.memory.buffer).set(bytes, at);
    const r = e.rad_wasm_run(at, bytes.length, n, policy, o.sessions, o.capacity, seed, BigInt(o.start),
                             BigInt(o.fuel), o.trace ? 1 : 0);
    e.rad_wasm_give_back(at);
    if (r === 0) throw new Error("no memory for a result");
    const result = { ...look(e, r), seed };
    e.rad_wasm_forget(r);
    return result;
  }

  function generate(e, seed) {
    const at = e.rad_wasm_generate(BigInt.asUintN(64, BigInt(seed)));
    if (at === 0) throw new Error("no memory for a protocol");
    const text = textAt(e.memory, at);
    e.rad_wasm_give_back(at);
    return text;
  }

  async function load(bytes) {
    let e = null;
    const host = hostOf(() => e.memory);
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: host });
    e = instance.exports;
    e._initialize();
    return {
      run: (text, options) => run(e, text, options),
      generate: (seed) => generate(e, seed), // the text of a random protocol
      memoryBytes: () => e.memory.buffer.byteLength,
    };
  }

  root.raddleSession = { load, policies, ends };
})(globalThis);
