// page.js — the page around session.wasm: opens a machine for what is in the text fields, runs it some rounds at a time
// and shows where it is, and beside it runs with every N and policy. `page` is what tests get hold of.
"use strict";

const page = (() => {
  const ns = [1, 2, 3, 7, "all"];
  const policies = raddleSession.policies;
  const signs = { sent: "→", received: "←", invoked: "ƒ", opened: "＋", spawned: "⑂", joined: "⑃", closed: "■",
                  halted: "□", faulted: "✗", acquired: "◆", released: "◇" };
  const threadsMost = 60; // shown
  const eventsMost = 500; // of each

  // For examples that have none, everything is drawn.
  const handlersOf = {
    two_buyer: `({ // e.state is of one role of one session
  quote(e) { // Seller has one price for both; the buyers remember it
    if (e.kind === "consume") e.state.price = e.fields[0];
    else return e.state.price ??= 20n + e.draw % 60n;
  },
  share(e) { // Alice pays half
    if (e.kind === "consume") e.state.share = e.fields[0];
    else return e.state.price / 2n;
  },
  accept(e) { // Bob buys if the rest is cheap
    return e.state.price - e.state.share <= 25n ? "accept" : "quit";
  },
})
`,
  };

  const at = (id) => document.getElementById(id);

  function make(name, text = "", className = "") {
    const element = document.createElement(name);
    element.textContent = text;
    element.className = className;
    return element;
  }

  const bytes = Uint8Array.from(atob(raddleSessionModule), (c) => c.charCodeAt(0));
  const machine = raddleSession.load(bytes);

  // ---- What is asked for ----------------------------------------------------------------------------------------

  function numberOf(id) {
    return Math.max(1, Math.floor(Number(at(id).value)) || 1);
  }

  // Evaluated for each machine: what they keep outside of e.state begins anew.
  function handlers() {
    const text = at("handlers").value.trim();
    if (text === "") return {};
    try {
      return new Function(`"use strict"; return (${text.replace(/;$/, "")}\n);`)();
    } catch (error) {
      throw new Error(`handlers: ${error.message}`);
    }
  }

  function options() {
    const n = at("n").value === "all" ? "all" : Number(at("n").value);
    const seed = at("seed").value.trim();
    if (!/^[0-9]*$/.test(seed)) throw new Error(`the seed is a number, or is left out: '${seed}'`);
    return { n, policy: at("policy").value, sessions: numberOf("sessions"), capacity: numberOf("capacity"),
             seed: seed === "" ? undefined : BigInt(seed) };
  }

  // ---- What came of it ------------------------------------------------------------------------------------------

  function showError(error) {
    at("end").textContent = error.message;
    at("end").className = "bad";
    for (const id of ["digest", "report", "errors"]) at(id).textContent = "";
    at("numbers").replaceChildren();
    showTrace(null);
  }

  function showEnd(vm, r) {
    const texts = { complete: "Complete", exhausted: `After ${r.rounds.toLocaleString("en")} rounds`,
                    stuck: "Stuck: no coroutine can run" };
    const faulted = r.faulted > 0 ? `, ${r.faulted} faulted` : "";
    at("end").textContent = (texts[r.end] || r.end) + faulted;
    at("end").className = faulted || r.end === "stuck" ? "bad" : r.end === "exhausted" ? "cut" : "good";
    at("digest").textContent = r.digest;
    at("report").textContent = r.end === "complete" || r.end === "stuck" ? vm.report() : "";
    at("errors").textContent = vm.errors.map((error) => error.message).join("\n");
    at("numbers").replaceChildren();
    for (const name of ["rounds", "instructions", "messages", "effects", "seed"]) {
      const pair = make("div");
      pair.append(make("dt", name), make("dd", name === "seed" ? String(vm.seed) : r[name].toLocaleString("en")));
      at("numbers").append(pair);
    }
  }

  // ---- Every N, every policy ------------------------------------------------------------------------------------

  function runOnce(m, text, o, fuel) {
    const vm = m.open(text, { ...o, trace: false, handlers: handlers() });
    try {
      return vm.run(fuel);
    } finally {
      vm.close();
    }
  }

  function cellOf(r, expected) {
    if (r.end === "exhausted") return make("td", "rounds used up", "cut");
    const equal = r.end === expected.end && r.digest === expected.digest;
    return make("td", r.digest.slice(0, 8), equal ? "equal" : "differs");
  }

  function verdictOf(count, expected) {
    if (count.differs) {
      const race = count.faulted ? ", or two roles of a session fail, and the first one counts" : "";
      return `${count.differs} differ: a handler depends on more than what it is given and on e.state${race}.`;
    }
    if (expected.end === "exhausted") return "None came to an end: allow more rounds to compare them.";
    const cut = count.cut ? `; ${count.cut} did not come to an end` : "";
    return `${count.equal} runs, one digest: ${expected.end}${cut}.`;
  }

  function showGrid(m, text, o, fuel) {
    const grid = at("grid");
    const head = make("tr");
    head.append(make("th"), ...ns.map((n) => make("th", `N = ${n}`)));
    grid.replaceChildren(head);
    const count = { equal: 0, differs: 0, cut: 0, faulted: 0 };
    let expected = null; // the first that came to an end
    for (const policy of policies) {
      const row = make("tr");
      row.append(make("th", policy));
      for (const n of ns) {
        const r = runOnce(m, text, { ...o, n, policy }, fuel);
        if (!expected || expected.end === "exhausted") expected = r;
        const cell = cellOf(r, expected);
        cell.title = `${r.digest}, ${r.rounds} rounds`;
        count[cell.className]++;
        count.faulted += r.faulted;
        row.append(cell);
      }
      grid.append(row);
    }
    at("verdict").textContent = verdictOf(count, expected);
  }

  // ---- The trace, and where threads are -------------------------------------------------------------------------

  // "0 Alice sent title to Seller 0 af859dea81c703dd", by session and thread.
  function eventsOf(trace) {
    const threads = new Map();
    for (const line of trace.split("\n")) {
      if (line === "") continue;
      const [session, thread, kind, ...rest] = line.split(" ");
      const causes = rest.pop();
      const key = `${session} ${thread}`;
      if (!threads.has(key)) threads.set(key, []);
      threads.get(key).push({ kind, rest, causes });
    }
    return threads;
  }

  function wordsOf(event) {
    if (event.kind === "sent" || event.kind === "received") {
      const [label, direction, peer] = event.rest;
      return [label, `${direction} ${peer}`];
    }
    if (event.kind === "invoked") return [event.rest[0], event.rest[0] === "select" ? "decides" : "handled"];
    return [event.kind, event.rest.join(" ")];
  }

  function showPlace(c) {
    const edge = c.from === null ? "" : ` from ${c.from} to ${c.to}`;
    const words = { idle: "has not begun", ready: "is ready", blocked: `${c.waits}${edge}`, ended: "has ended",
                    faulted: "is stopped: its session is faulted" };
    const line = c.line ? `, line ${c.line}` : "";
    const place = make("p", words[c.phase] + line, c.phase);
    const held = c.registers.map((r, i) => `r${i} ${typeof r === "string" ? JSON.stringify(r) : r}`);
    place.append(make("small", held.join(" · ")));
    return place;
  }

  function showThread(c, events) {
    const column = make("div");
    const list = make("ol");
    for (const event of events.slice(0, eventsMost)) {
      const item = make("li");
      const [what, more] = wordsOf(event);
      item.append(make("b", signs[event.kind] || "·"), make("span", what), make("i", more));
      item.append(make("code", event.causes.slice(0, 6)));
      item.title = `${event.kind} ${event.rest.join(" ")}, after ${event.causes}`;
      list.append(item);
    }
    if (events.length > eventsMost) list.append(make("li", `and ${events.length - eventsMost} more`));
    column.append(make("h3", c.thread), showPlace(c), list);
    return column;
  }

  let shown = { coroutines: [], events: new Map() };

  function showSession() {
    const threads = shown.coroutines.filter((c) => c.session === at("session").value).slice(0, threadsMost);
    at("trace").replaceChildren(
      ...threads.map((c) => showThread(c, shown.events.get(`${c.session} ${c.thread}`) || [])));
  }

  // The session that was chosen stays so while it is there.
  function showTrace(vm) {
    shown = vm ? { coroutines: vm.coroutines(), events: eventsOf(vm.trace()) } : { coroutines: [], events: new Map() };
    const sessions = [...new Set(shown.coroutines.map((c) => c.session))];
    const before = at("session").value;
    at("session").replaceChildren(...sessions.map((name) => make("option", name)));
    if (sessions.includes(before)) at("session").value = before;
    showSession();
  }

  // ---- Running --------------------------------------------------------------------------------------------------

  let vm = null; // the one that is shown

  function show(r) {
    showEnd(vm, r);
    showTrace(vm);
    at("continue").disabled = r.end !== "exhausted";
  }

  async function run() {
    at("run").disabled = at("continue").disabled = true;
    at("grid").replaceChildren();
    at("verdict").textContent = "";
    try {
      const m = await machine;
      const o = options();
      const text = at("protocol").value;
      vm?.close();
      vm = null;
      vm = m.open(text, { ...o, handlers: handlers() });
      show(vm.run(numberOf("fuel")));
      showGrid(m, text, { ...o, seed: vm.seed }, numberOf("fuel"));
    } catch (error) {
      showError(error);
    }
    at("run").disabled = false;
  }

  // From where it is.
  function goOn() {
    try {
      show(vm.run(numberOf("fuel")));
    } catch (error) {
      showError(error);
    }
  }

  function choose() {
    at("protocol").value = raddleSessionExamples[at("example").value];
    at("handlers").value = handlersOf[at("example").value] || "";
  }

  for (const name of Object.keys(raddleSessionExamples)) at("example").append(make("option", name));
  for (const name of policies) at("policy").append(make("option", name));
  if (raddleSessionExamples.two_buyer) at("example").value = "two_buyer";
  choose();
  at("example").addEventListener("change", () => {
    choose();
    run();
  });
  at("session").addEventListener("change", showSession);
  at("run").addEventListener("click", run);
  at("continue").addEventListener("click", goOn);
  return { machine, run, ready: run() };
})();
