// session.js — session.wasm for JavaScript, in Node and in browsers alike: a plain script that defines
// `raddleSession`. Besides the handlers of its machines the module asks its host for four calls of WASI; they stand
// here, so nothing else is needed.
//
//     const module = await raddleSession.load(bytes);            // of session.wasm
//     const vm = module.open(text, { n: 3, seed: 7n, handlers: { quote: (effect) => [40n] } });
//     while (vm.run(1000).end === "exhausted") show(vm.coroutines(), vm.trace());
//     vm.close();
//
// Everything is a function of the text, the options and the handlers. Only when no seed is given, one is drawn from the
// system, and vm.seed says which. What goes wrong is a RaddleSessionError with a `code`; docs/session-wasm.md has the
// list.
(function (root) {
  "use strict";

  const ends = ["complete", "exhausted", "stuck", "no memory", "waiting"];
  const policies = ["cooperative", "round-robin", "progress"];
  const rules = ["block", "error", "drop", "latest", "resize"];
  const kinds = ["produce", "select", "consume", "does"];
  const types = ["int", "bool", "text"];
  const phases = ["idle", "ready", "blocked", "ended", "faulted"];
  const counters = ["rounds", "instructions", "messages", "effects"]; // 64 bits
  const counts = ["sessions", "closed", "faulted", "coroutines", "ready", "blocked", "ended"];
  const codes = { "-1": "input", "-3": "memory", "-4": "limit" };
  const blocked = Symbol.for("raddleSession.blocked");
  const failed = Symbol.for("raddleSession.failed");
  const results = { done: 0, blocked: 1, failed: 2 };
  const nestedMost = 8; // machines whose handlers run machines
  const textMost = 65535;
  const all32 = 0xffffffff;

  class RaddleSessionError extends Error {
    constructor(code, message, more = {}) {
      super(message);
      this.name = "RaddleSessionError";
      this.code = code;
      Object.assign(this, more);
    }
  }

  // ---- Options ----------------------------------------------------------------------------------------------------

  function wrong(option, value, expected) {
    return new RaddleSessionError("option", `${option}: expected ${expected}, not ${words(value)}`);
  }

  // A value in a message: short, and never an error of its own.
  function words(value) {
    if (typeof value === "string") return value.length > 40 ? `'${value.slice(0, 40)}…'` : `'${value}'`;
    if (typeof value === "bigint") return `${value}n`;
    if (Array.isArray(value)) return `an array of ${value.length}`;
    if (typeof value === "function") return "a function";
    return typeof value === "object" && value !== null ? "an object" : String(value);
  }

  function integer(option, value, least, most) {
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw wrong(option, value, `a number from ${least} to ${most}`);
  }

  function word64(option, value, least = 0n) {
    const number = Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof number === "bigint" && number >= least && number < 1n << 64n) return number;
    throw wrong(option, value, `a whole number from ${least} to 2^64 - 1`);
  }

  function oneOf(option, value, names) {
    const number = typeof value === "string" ? names.indexOf(value) : value;
    if (Number.isInteger(number) && number >= 0 && number < names.length) return number;
    throw wrong(option, value, names.join(", "));
  }

  const defaults = {
    n: 1, policy: "cooperative", protocol: undefined, sessions: 1, capacity: 1, full: "block", seed: undefined,
    start: 0n, trace: true, handlers: {},
  };

  function readOptions(given) {
    if (typeof given !== "object" || given === null) throw wrong("options", given, "an object");
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(defaults, name)) throw wrong("options", name, Object.keys(defaults).join(", "));
    }
    const o = { ...defaults, ...given };
    const everybody = o.n === "all" || o.n === "inf";
    if (o.protocol !== undefined && typeof o.protocol !== "string") throw wrong("protocol", o.protocol, "a name");
    if (typeof o.handlers !== "object" || o.handlers === null) throw wrong("handlers", o.handlers, "an object");
    for (const [name, handler] of Object.entries(o.handlers)) {
      if (typeof handler !== "function") throw wrong(`handlers.${name}`, handler, "a function");
    }
    return {
      n: everybody ? 0 : integer('n ("all" for all)', o.n, 1, all32 - 1),
      policy: oneOf("policy", o.policy, policies),
      protocol: o.protocol,
      sessions: integer("sessions", o.sessions, 0, all32),
      capacity: integer("capacity", o.capacity, 1, all32),
      full: oneOf("full", o.full, rules),
      seed: o.seed === undefined ? root.crypto.getRandomValues(new BigUint64Array(1))[0] : word64("seed", o.seed),
      start: word64("start", o.start),
      log: o.trace ? 1 : 0,
      handlers: Object.entries(o.handlers),
    };
  }

  // ---- Answers of handlers ----------------------------------------------------------------------------------------

  class Misfit extends Error {}

  function fieldOf(value, type, number) {
    const whole = type === "int" && Number.isSafeInteger(value) ? BigInt(value) : value;
    if (type === "int" && typeof whole === "bigint" && BigInt.asIntN(64, whole) === whole) return whole;
    if (type === "bool" && typeof value === "boolean") return value ? 1n : 0n;
    if (type === "text" && typeof value === "string") {
      const bytes = new TextEncoder().encode(value);
      if (bytes.length <= textMost) return bytes;
      throw new Misfit(`field ${number}: the text has ${bytes.length} bytes, ${textMost} at most`);
    }
    throw new Misfit(`field ${number}: expected ${type === "int" ? "an int of 64 bits" : `a ${type}`}, not ` +
                     words(value));
  }

  // Several fields are an array; one may stand for itself.
  function fieldsOf(answer, wanted) {
    const values = Array.isArray(answer) ? answer : wanted.length === 1 ? [answer] : answer === undefined ? [] : null;
    if (values === null || values.length !== wanted.length) {
      throw new Misfit(`expected ${wanted.length} field${wanted.length === 1 ? "" : "s"} (${wanted.join(", ")}), ` +
                       `not ${words(answer)}`);
    }
    return wanted.map((type, i) => fieldOf(values[i], type, i));
  }

  // "accept", or { choose: "accept", to: "Seller", fields: [1n] }; `to` where two messages have one name.
  function optionOf(answer, options) {
    const { choose, to, fields } = typeof answer === "string" ? { choose: answer } : answer || {};
    const fits = options.map((o, i) => i).filter(
      (i) => options[i].name === choose && (to === undefined || options[i].partner === to));
    if (fits.length !== 1) {
      const names = options.map((o) => `${o.name} to ${o.partner}`).join(" or ");
      throw new Misfit(`expected { choose } of ${names}, ` +
                       (fits.length > 1 ? `and { to }: there are ${fits.length} such`
                                        : `not ${words(choose ?? answer)}`));
    }
    return { option: fits[0], fields };
  }

  // For fields, or for a choice. The others are told something.
  const isAsked = (effect) => effect.kind === "produce" || effect.kind === "select";

  function errorOf(error, misfit, effect) {
    const { session, role, thread, name, occurrence } = effect;
    const what = name ?? effect.options.map((o) => o.name).join(" or ");
    const why = misfit ? error.message : `threw ${words(error?.message ?? error)}`;
    const text = `session ${session}, ${thread}: handler of ${what}: ${why}`;
    return new RaddleSessionError(misfit ? "answer" : "handler", text,
                                  { session, role, thread, effect: what, occurrence, cause: error });
  }

  // ---- A machine --------------------------------------------------------------------------------------------------

  class Vm {
    #module;
    #at;
    #running = false;
    #handlers;
    #states = [undefined]; // of coroutines; the machine keeps their numbers, and 0 is none yet
    errors = []; // what handlers have thrown, and answers that did not fit

    constructor(module, text, options) {
      if (typeof text !== "string") throw wrong("text", text, "the text of a protocol");
      const o = readOptions(options);
      this.seed = o.seed;
      this.#module = module;
      this.#handlers = o.handlers.map(([, handler]) => handler);
      const bytes = new TextEncoder().encode(text);
      this.#at = module.withBytes(
        bytes, (at) => module.call("rad_wasm_open", at, bytes.length, o.n, o.policy, o.capacity, o.full, o.seed,
                                   o.start, o.log));
      if (this.#at === 0) throw new RaddleSessionError("memory", "no memory for a machine");
      try {
        this.#check(module.call("rad_wasm_code", this.#at));
        o.handlers.forEach(([name], i) => {
          this.#check(module.withText(name === "*" ? undefined : name,
                                      (at) => module.call("rad_wasm_handle", this.#at, at, i)));
        });
        this.open(o.protocol, o.sessions);
      } catch (error) {
        this.close();
        throw error;
      }
      module.vms.set(this.#at, (number, effect) => this.#invoke(number, effect));
    }

    // A code of the library, as an error.
    #check(code) {
      if (code === 0) return;
      const text = this.#module.textAt(this.#module.call("rad_wasm_error", this.#at));
      const place = /^protocol:([0-9]+):([0-9]+): /.exec(text);
      throw new RaddleSessionError(codes[code] || "input", text,
                                   place ? { line: Number(place[1]), column: Number(place[2]) } : {});
    }

    // Nothing is done to a machine that is in the middle of an instruction, or gone.
    #ready(call) {
      if (this.#at === 0) throw new RaddleSessionError("closed", `${call}: this machine is closed`);
      if (!this.#running) return;
      throw new RaddleSessionError("busy", `${call}: this machine is running; its handlers cannot use it`);
    }

    // More sessions, of this protocol or of the last one in the text.
    open(protocol = undefined, count = 1) {
      this.#ready("open");
      integer("count", count, 0, all32);
      this.#check(this.#module.withText(protocol, (at) => this.#module.call("rad_wasm_sessions", this.#at, at, count)));
    }

    // So many rounds, or to the end: { end, … as of look() }.
    run(fuel = undefined) {
      this.#ready("run");
      const rounds = fuel === undefined ? 0n : word64("fuel", fuel, 1n);
      const module = this.#module;
      if (module.nested >= nestedMost) {
        throw new RaddleSessionError("nested", `run: handlers of ${nestedMost} machines are waiting for this one`);
      }
      this.#running = true;
      module.nested++;
      let end;
      try {
        end = ends[module.call("rad_wasm_run", this.#at, rounds)];
      } finally {
        module.nested--;
        this.#running = false;
      }
      return { end, ...this.look() };
    }

    look() {
      this.#ready("look");
      const module = this.#module;
      module.call("rad_wasm_look", this.#at);
      const result = { digest: module.textAt(module.call("rad_wasm_digest", this.#at)) };
      [...counters, ...counts].forEach((name, i) => {
        const number = BigInt.asUintN(64, module.call("rad_wasm_number", this.#at, i));
        result[name] = i < counters.length ? number : Number(number);
      });
      return result;
    }

    // A line per event so far; with `normalize: false` in the order of the rounds, with them.
    trace({ session = undefined, normalize = true } = {}) {
      this.#ready("trace");
      const which = session === undefined ? all32 : integer("session", session, 0, all32 - 1);
      return this.#text(this.#module.call("rad_wasm_trace", this.#at, which, normalize ? 1 : 0));
    }

    // Who is blocked or faulted, and why.
    report() {
      this.#ready("report");
      return this.#text(this.#module.call("rad_wasm_report", this.#at));
    }

    #text(at) {
      if (at === 0) throw new RaddleSessionError("memory", "no memory for a text");
      return this.#module.textAt(at);
    }

    // Every role of every session, and every parallel branch of a role.
    coroutines() {
      this.#ready("coroutines");
      const all = [];
      while (this.#module.call("rad_wasm_coroutine", this.#at, all.length) !== 0) all.push(this.#coroutine());
      return all;
    }

    #coroutine() {
      const module = this.#module;
      const text = (which) => module.textAt(module.call("rad_wasm_coroutine_text", this.#at, which));
      const number = (which) => Number(module.call("rad_wasm_coroutine_number", this.#at, which));
      const registers = [];
      for (let i = 0; i < number(4); i++) registers.push(module.valueAt(module.call("rad_wasm_register", this.#at, i)));
      return { session: text(0), role: text(1), thread: text(2), phase: phases[number(0)], waits: text(3),
               from: text(4), to: text(5), fault: text(6), line: number(1), events: number(2), effects: number(3),
               registers };
    }

    close() {
      if (this.#at === 0) return;
      this.#ready("close");
      this.#module.vms.delete(this.#at);
      this.#module.call("rad_wasm_close", this.#at);
      this.#at = 0;
    }

    // ---- Handlers -----------------------------------------------------------------------------------------------

    // Called by the module, in the middle of an instruction: nothing may be thrown through it.
    #invoke(number, at) {
      const effect = this.#effect(at);
      try {
        const handler = this.#handlers[number];
        const answer = handler(effect);
        this.#states[Number(this.#module.call("rad_wasm_state", at))] = effect.state;
        return this.#take(at, effect, answer);
      } catch (error) {
        if (this.#module.broken) throw error; // everything ends
        const misfit = error instanceof Misfit;
        this.errors.push(errorOf(error, misfit, effect));
        if (misfit) this.#module.call("rad_wasm_answer_nonsense", at);
        return misfit && isAsked(effect) ? results.done : results.failed;
      }
    }

    #effect(at) {
      const module = this.#module;
      const text = (which) => module.textAt(module.call("rad_wasm_effect_text", at, which));
      const number = (which) => BigInt.asUintN(64, module.call("rad_wasm_effect_number", at, which));
      const kind = kinds[Number(number(0))];
      const effect = { kind, session: text(0), role: text(1), thread: text(2), partner: text(3), name: text(4),
                       occurrence: Number(number(1)), draw: number(2), types: [], fields: [], options: [],
                       state: this.#stateOf(at) };
      for (let i = 0; i < Number(number(3)); i++) {
        const value = module.call("rad_wasm_effect_field", at, i);
        effect.types.push(types[module.call("rad_wasm_value_type", value)]);
        if (kind === "consume") effect.fields.push(module.valueAt(value));
      }
      for (let i = 0; i < Number(number(4)); i++) effect.options.push(this.#option(at, i));
      return effect;
    }

    #option(at, option) {
      const module = this.#module;
      const wanted = [];
      for (let i = 0; i < module.call("rad_wasm_option_fields", at, option); i++) {
        wanted.push(types[module.call("rad_wasm_option_type", at, option, i)]);
      }
      return { name: module.textAt(module.call("rad_wasm_option_name", at, option)),
               partner: module.textAt(module.call("rad_wasm_option_partner", at, option)), types: wanted };
    }

    #stateOf(at) {
      const known = Number(this.#module.call("rad_wasm_state", at));
      if (known !== 0) return this.#states[known];
      this.#module.call("rad_wasm_set_state", at, BigInt(this.#states.length));
      this.#states.push({});
      return this.#states.at(-1);
    }

    #take(at, effect, answer) {
      if (answer === blocked) return results.blocked;
      if (answer === failed) return results.failed;
      if (typeof answer?.then === "function") {
        throw new Misfit("a promise: answer raddleSession.blocked, and the value when it is there");
      }
      if (!isAsked(effect)) return results.done;
      const module = this.#module;
      const chosen = effect.kind === "select" ? optionOf(answer, effect.options) : { fields: answer };
      const wanted = effect.kind === "select" ? effect.options[chosen.option].types : effect.types;
      const values = fieldsOf(chosen.fields, wanted);
      if (effect.kind === "select") module.call("rad_wasm_choose", at, chosen.option);
      values.forEach((value, i) => {
        if (wanted[i] === "text") module.call("rad_wasm_answer_text", this.#at, at, i, module.put(value), value.length);
        else module.call("rad_wasm_answer_number", at, i, types.indexOf(wanted[i]), value);
      });
      return results.done;
    }
  }

  // ---- The module --------------------------------------------------------------------------------------------------

  class Module {
    broken = null; // the error that ended it
    nested = 0;
    vms = new Map(); // by address: who answers for its handlers
    #exports = null;
    #said = ""; // what it has printed: an assertion that failed

    // Handlers never throw into the module. So what comes out of it is its end: nobody knows what is in its memory.
    call(name, ...args) {
      if (this.broken) {
        throw new RaddleSessionError("broken", `session.wasm has failed: ${this.broken.message}; load it anew`,
                                     { cause: this.broken });
      }
      try {
        return this.#exports[name](...args);
      } catch (error) {
        this.broken ??= error;
        throw new RaddleSessionError("broken", `session.wasm has failed: ${this.broken.message}; load it anew`,
                                     { cause: this.broken });
      }
    }

    bytesAt(at, length) {
      return new Uint8Array(this.#exports.memory.buffer, at, length);
    }

    textAt(at) {
      if (at === 0) return null;
      const bytes = new Uint8Array(this.#exports.memory.buffer);
      return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
    }

    // Texts of fields may hold anything, also zeros.
    valueAt(at) {
      const type = types[this.call("rad_wasm_value_type", at)];
      if (type === "int") return this.call("rad_wasm_value_number", at);
      if (type === "bool") return this.call("rad_wasm_value_number", at) !== 0n;
      const bytes = this.bytesAt(this.call("rad_wasm_value_text", at), this.call("rad_wasm_value_length", at));
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    }

    // A copy in its memory, with a zero at the end; whoever gets it gives it back.
    put(bytes) {
      const at = this.call("rad_wasm_take", bytes.length + 1);
      if (at === 0) throw new RaddleSessionError("memory", `no memory for a text of ${bytes.length} bytes`);
      this.bytesAt(at, bytes.length).set(bytes);
      return at;
    }

    withBytes(bytes, use) {
      const at = this.put(bytes);
      try {
        return use(at);
      } finally {
        if (!this.broken) this.call("rad_wasm_give_back", at);
      }
    }

    // Of a name; undefined is none. A zero would end it before its end.
    withText(text, use) {
      if (text === undefined) return use(0);
      if (text.includes("\0")) throw wrong("name", text, "a name of the protocol");
      return this.withBytes(new TextEncoder().encode(text), use);
    }

    // Calls of WASI for a failed assertion: its text becomes the message of the error.
    #wasi() {
      const view = () => new DataView(this.#exports.memory.buffer);
      return {
        fd_write: (fd, vectors, count, written) => {
          let size = 0;
          for (let i = 0; i < count; i++) {
            const length = view().getUint32(vectors + 8 * i + 4, true);
            this.#said += new TextDecoder().decode(this.bytesAt(view().getUint32(vectors + 8 * i, true), length));
            size += length;
          }
          view().setUint32(written, size, true);
          return 0;
        },
        fd_close: () => 0,
        fd_seek: () => 29, // a pipe
        proc_exit: (status) => {
          throw new Error(`it ended with status ${status}: ${this.#said}`);
        },
      };
    }

    async start(bytes) {
      const invoke = (vm, handler, effect) => this.vms.get(vm)(handler, effect);
      const imports = { wasi_snapshot_preview1: this.#wasi(), raddle: { invoke } };
      this.#exports = (await WebAssembly.instantiate(bytes, imports)).instance.exports;
      this.call("_initialize");
    }

    generate(seed) {
      const at = this.call("rad_wasm_generate", word64("seed", seed));
      if (at === 0) throw new RaddleSessionError("memory", "no memory for a protocol");
      const text = this.textAt(at);
      this.call("rad_wasm_give_back", at);
      return text;
    }

    memoryBytes() {
      return this.#exports.memory.buffer.byteLength;
    }
  }

  async function load(bytes) {
    const module = new Module();
    await module.start(bytes);
    return {
      open: (text, options = {}) => new Vm(module, text, options),
      generate: (seed) => module.generate(seed), // the text of a random protocol
      memoryBytes: () => module.memoryBytes(),
    };
  }

  root.raddleSession = { load, policies, ends, blocked, failed, RaddleSessionError };
})(globalThis);
