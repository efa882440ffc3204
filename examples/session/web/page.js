// page.js — the page around session.wasm: runs what is in the text field, once as asked and once with every N and
// policy, and shows both. `page` is what tests get hold of.
"use strict";

const page = (() => {
  const ns = [1, 2, 3, 7, "all"];
  const policies = raddleSession.policies;
  const signs = { sent: "→", received: "←", invoked: "ƒ", opened: "＋", spawned: "⑂", joined: "⑃", closed: "■",
                  halted: "□", faulted: "✗", acquired: "◆", released: "◇" };
  const threadsMost = 60; // shown
  const eventsMost = 500; // of each

  const at = (id) => document.getElementById(id);

  function make(name, text = "", className = "") {
    const element = document.createElement(name);
    element.textContent = text;
    element.className = className;
    return element;
  }

  const bytes = Uint8Array.from(atob(raddleSessionModule), (c) => c.charCodeAt(0));
  const machine = raddleSession.load(bytes);

  function options() {
    const number = (id) => Math.max(1, Math.floor(Number(at(id).value)) || 1);
    const n = at("n").value === "all" ? "all" : Number(at("n").value);
    const seed = at("seed").value.trim();
    if (!/^[0-9]*$/.test(seed)) throw new Error(`the seed is a number, or is left out: '${seed}'`);
    return { n, policy: at("policy").value, sessions: number("sessions"), capacity: number("capacity"),
             fuel: BigInt(number("fuel")), seed: seed === "" ? undefined : BigInt(seed) };
  }

  // ---- What came of it ------------------------------------------------------------------------------------------

  function showEnd(r) {
    const texts = { complete: "Complete", exhausted: "All rounds are used up", stuck: "Stuck: nobody can go on" };
    const faulted = r.faulted > 0n ? `, ${r.faulted} faulted` : "";
    at("end").textContent = r.end === "refused" ? r.error : (texts[r.end] || r.end) + faulted;
    at("end").className = r.end === "exhausted" ? "cut" : r.end === "complete" && !faulted ? "good" : "bad";
    at("digest").textContent = r.digest;
    at("report").textContent = r.end === "complete" || r.end === "stuck" ? r.report : "";
    at("numbers").replaceChildren();
    if (r.end === "refused") return;
    for (const name of ["rounds", "instructions", "messages", "effects", "seed"]) {
      const pair = make("div");
      pair.append(make("dt", name), make("dd", name === "seed" ? String(r.seed) : r[name].toLocaleString("en")));
      at("numbers").append(pair);
    }
  }

  // ---- Every N, every policy ------------------------------------------------------------------------------------

  function cellOf(r, expected) {
    if (r.end === "exhausted") return make("td", "rounds used up", "cut");
    const equal = r.end === expected.end && r.digest === expected.digest;
    return make("td", r.digest.slice(0, 8) || r.end, equal ? "equal" : "differs");
  }

  function verdictOf(count, expected) {
    if (count.differs) return `${count.differs} differ: this should not be possible`;
    if (!expected || expected.end === "exhausted") return "None came to an end: allow more rounds to compare them.";
    const cut = count.cut ? `; ${count.cut} did not come to an end` : "";
    return `${count.equal} runs, one digest: ${expected.end}${cut}.`;
  }

  function showGrid(m, text, o) {
    const grid = at("grid");
    const head = make("tr");
    head.append(make("th"), ...ns.map((n) => make("th", `N = ${n}`)));
    grid.replaceChildren(head);
    const count = { equal: 0, differs: 0, cut: 0 };
    let expected = null; // the first that came to an end
    for (const policy of policies) {
      const row = make("tr");
      row.append(make("th", policy));
      for (const n of ns) {
        const r = m.run(text, { ...o, n, policy, trace: false });
        if (!expected || expected.end === "exhausted") expected = r;
        const cell = cellOf(r, expected);
        cell.title = `${r.digest}, ${r.rounds} rounds`;
        count[cell.className]++;
        row.append(cell);
      }
      grid.append(row);
    }
    at("verdict").textContent = verdictOf(count, expected);
  }

  // ---- The trace ------------------------------------------------------------------------------------------------

  // "0 Alice sent title to Seller 0 af859dea81c703dd", by session and thread.
  function threadsOf(trace) {
    const sessions = new Map();
    for (const line of trace.split("\n")) {
      if (line === "") continue;
      const [session, thread, kind, ...rest] = line.split(" ");
      const causes = rest.pop();
      if (!sessions.has(session)) sessions.set(session, new Map());
      const threads = sessions.get(session);
      if (!threads.has(thread)) threads.set(thread, []);
      threads.get(thread).push({ kind, rest, causes });
    }
    return sessions;
  }

  function wordsOf(event) {
    if (event.kind === "sent" || event.kind === "received") {
      const [label, direction, peer] = event.rest;
      return [label, `${direction} ${peer}`];
    }
    if (event.kind === "invoked") return [event.rest[0], event.rest[0] === "select" ? "decides" : "handled"];
    return [event.kind, event.rest.join(" ")];
  }

  function showThread(name, events) {
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
    column.append(make("h3", name), list);
    return column;
  }

  let shown = new Map();

  function showSession() {
    const threads = [...(shown.get(at("session").value) || new Map())];
    at("trace").replaceChildren(...threads.slice(0, threadsMost).map(([name, events]) => showThread(name, events)));
  }

  function showTrace(trace) {
    shown = threadsOf(trace);
    at("session").replaceChildren(...[...shown.keys()].map((name) => make("option", name)));
    showSession();
  }

  // ---- Running --------------------------------------------------------------------------------------------------

  async function run() {
    const button = at("run");
    button.disabled = true;
    at("grid").replaceChildren();
    at("verdict").textContent = "";
    try {
      const m = await machine;
      const o = options();
      const text = at("protocol").value;
      const result = m.run(text, o);
      showEnd(result);
      showTrace(result.trace);
      if (result.end !== "refused") showGrid(m, text, { ...o, seed: result.seed });
    } catch (error) {
      at("end").textContent = error.message;
      at("end").className = "bad";
    }
    button.disabled = false;
  }

  function choose() {
    at("protocol").value = raddleSessionExamples[at("example").value];
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
  return { machine, run, ready: run() };
})();
