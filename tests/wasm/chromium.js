// chromium.js WEB COUNT FILE... — the suite in a headless Chromium, with so many random protocols, and a look at the
// page. WEB is the folder that tools/wasm.sh made; everything is read from files, nothing is listened on. The runs are
// told on stdout; what is wrong on stderr, with status 1.
//     chromium.js --picture WEB FILE.png [WIDTH HEIGHT [SCRIPT]] — the page, as it looks after its first run and what
//     a script did then
//
// The browser is driven through a pipe (--remote-debugging-pipe): JSON, each message ended by a zero.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const limitMs = 300000; // without a word from it; what it may compute, tools/cpu_limit.c limits

const flags = [
  "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage",
  "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
  "--disable-extensions", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars",
];

class Browser {
  constructor() {
    this.home = fs.mkdtempSync(path.join(os.tmpdir(), "raddle-chromium-"));
    this.child = spawn(process.env.CHROMIUM || "chromium", [...flags, `--user-data-dir=${this.home}`, "about:blank"],
                       { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"], detached: true,
                         env: { ...process.env, HOME: this.home } });
    this.said = "";
    this.child.stderr.on("data", (text) => (this.said = (this.said + text).slice(-4000)));
    this.next = 1;
    this.waiting = new Map();
    this.ended = new Promise((done) => this.child.once("close", done));
    this.child.once("error", (error) => this.fail(error));
    this.child.once("exit", (status) => this.fail(new Error(`chromium ended (${status}): ${this.said}`)));
    this.child.stdio[3].on("error", () => {}); // told by "exit"
    let parts = [];
    this.child.stdio[4].on("data", (chunk) => {
      for (let end; (end = chunk.indexOf(0)) >= 0; chunk = chunk.subarray(end + 1)) {
        this.hear(JSON.parse(Buffer.concat([...parts, chunk.subarray(0, end)])));
        parts = [];
      }
      parts.push(chunk);
    });
    this.timer = setTimeout(() => this.fail(new Error(`nothing for ${limitMs / 1000} s: ${this.said}`)), limitMs);
  }

  hear(message) {
    this.timer.refresh();
    const waits = this.waiting.get(message.id);
    if (waits === undefined) return; // an event
    this.waiting.delete(message.id);
    if (message.error) waits.failed(new Error(message.error.message));
    else waits.done(message.result);
  }

  fail(error) {
    this.error = error;
    for (const waits of this.waiting.values()) waits.failed(error);
    this.waiting.clear();
  }

  call(method, params = {}, sessionId = undefined) {
    return new Promise((done, failed) => {
      if (this.error) return failed(this.error);
      const id = this.next++;
      this.waiting.set(id, { done, failed });
      this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  async open(url, width = 1280, height = 900) {
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.call("Target.attachToTarget", { targetId, flatten: true });
    this.page = sessionId;
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.call("Emulation.setDeviceMetricsOverride", metrics, sessionId);
    const { errorText } = await this.call("Page.navigate", { url }, sessionId);
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await this.evaluate("new Promise((done) => document.readyState === 'complete' ? done() : " +
                        "addEventListener('load', () => done()))");
  }

  async evaluate(expression) {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails: wrong } = await this.call("Runtime.evaluate", params, this.page);
    if (wrong) throw new Error(wrong.exception?.description || wrong.text);
    return result.value;
  }

  // It began as the leader of a group of its own, which ends with it.
  async close() {
    clearTimeout(this.timer);
    try {
      process.kill(-this.child.pid, "SIGKILL");
    } catch {
      // it never began, or has ended
    }
    if (this.child.pid !== undefined) await this.ended;
    fs.rmSync(this.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

const script = (file) => fs.readFileSync(path.join(__dirname, file), "utf8");
const pageOf = (web) => pathToFileURL(path.resolve(web, "index.html")).href;

// What a user does: choose each example and run it; run one in steps; write handlers, good and bad ones.
async function usePage() {
  const wrong = [];
  const expect = (holds, what) => holds || wrong.push(`${what}; the page says: ${at("end").textContent}, ` +
                                                      `${at("verdict").textContent} ${at("errors").textContent}`);
  const at = (id) => document.getElementById(id);
  const count = (selector) => document.querySelectorAll(selector).length;
  const cells = (kind) => count(`#grid td${kind}`);
  const set = (values) => Object.entries(values).forEach(([id, value]) => (at(id).value = value));
  const choose = async (name) => {
    set({ example: name });
    at("example").dispatchEvent(new Event("change"));
    await page.run();
  };
  await page.ready;
  expect(cells(".equal") === 15 && count("#trace p.ended") === 3, "the first example is not complete");
  for (const { value } of document.querySelectorAll("#example option")) {
    await choose(value);
    expect(cells("") === 15 && cells(".differs") === 0, `${value}: ${cells(".differs")} cells are red`);
    expect(count("#trace li") > 0, `${value}: no trace is shown`);
  }

  await choose("two_buyer");
  const whole = at("digest").textContent;
  const handlers = at("handlers").value;
  set({ handlers: "" });
  await page.run();
  expect(at("digest").textContent !== whole, "handlers are not called");
  set({ handlers, fuel: 5 });
  await page.run();
  expect(at("end").textContent === "After 5 rounds" && !at("continue").disabled, "a run of 5 rounds does not stop");
  expect(count("#trace p.blocked") > 0 && count("#trace li") < 8, "it is not shown where coroutines are");
  let steps = 1;
  for (; steps < 100 && !at("continue").disabled; steps++) at("continue").click();
  expect(steps === 12 && at("end").textContent === "Complete", `in steps it does not come to its end (${steps})`);
  expect(at("digest").textContent === whole, "in steps something else happens");

  set({ fuel: 20000, handlers: "{ quote() { throw new Error('no stock') } }" });
  await page.run();
  expect(at("end").textContent === "Complete, 2 faulted", "a handler that throws does not fault its sessions");
  expect(at("errors").textContent.includes("session 1, Seller: handler of quote: threw 'no stock'"), "it is not named");
  expect(cells(".equal") === 15, "it does so for some N only");
  set({ sessions: 5, handlers: "(() => { let sold = 0n; return { quote: (e) => sold++ } })()" });
  await page.run();
  const said = at("verdict").textContent;
  expect(cells(".differs") > 0 && said.includes("a handler depends on more"), "sharing is not seen");
  for (const bad of ["{ quote( }", "7", "{ quote: 7 }", "{ nobody() {} }"]) {
    set({ handlers: bad });
    await page.run();
    expect(at("end").className === "bad" && cells("") === 0, `handlers are taken: ${bad}`);
  }
  set({ handlers: "", protocol: "protocol P { roles A, B A -> C: x }" });
  await page.run();
  expect(at("end").textContent === "protocol:1:30: protocol P has no role C", "a wrong protocol is not refused");
  await choose("two_buyer");
  expect(cells(".equal") === 15, "after mistakes it does not run");
  return wrong;
}

async function suite(browser, web, randomCount, paths) {
  const files = paths.map((p) => ({ name: path.basename(p), text: fs.readFileSync(p, "utf8") }));
  await browser.open(pageOf(web));
  await browser.evaluate(script("suite.js"));
  const { text, wrong } = await browser.evaluate(
    `page.machine.then((machine) => raddleSuite.all(machine, ${JSON.stringify(files)}, ${randomCount}))`);
  const all = [...wrong, ...(await browser.evaluate(`(${usePage})()`))];
  fs.writeFileSync(1, text);
  if (all.length > 0) fs.writeFileSync(2, all.join("\n") + "\n");
  process.exitCode = all.length > 0 ? 1 : 0;
}

async function picture(browser, web, file, width = "1280", height = "900", script = "") {
  await browser.open(pageOf(web), Number(width), Number(height));
  await browser.evaluate("page.ready");
  await browser.evaluate(script);
  const { data } = await browser.call("Page.captureScreenshot", { format: "png", captureBeyondViewport: true },
                                      browser.page);
  fs.writeFileSync(file, Buffer.from(data, "base64"));
}

async function main(words) {
  const browser = new Browser();
  process.once("SIGTERM", () => browser.fail(new Error("ended from outside")));
  try {
    if (words[0] === "--picture") await picture(browser, ...words.slice(1));
    else await suite(browser, words[0], Number(words[1]), words.slice(2));
  } finally {
    await browser.close();
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(String(error.stack || error));
  process.exitCode = 2;
});
