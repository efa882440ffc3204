// chromium.js WEB COUNT FILE... — the suite in a headless Chromium, with so many random protocols, and a look at the
// page. WEB is the folder that tools/wasm.sh made; everything is read from files, nothing is listened on. The runs are
// told on stdout; what is wrong on stderr, with status 1.
//     chromium.js --picture WEB FILE.png [WIDTH HEIGHT] — the page, as it looks after its first run
//
// The browser is driven through a pipe (--remote-debugging-pipe): JSON, each message ended by a zero.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const limitMs = 50000;

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
    this.timer = setTimeout(() => this.fail(new Error(`nothing after ${limitMs / 1000} s: ${this.said}`)), limitMs);
  }

  hear(message) {
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

// What a user does: choose each example, run it, look at the cells.
const lookAtPage = `(async () => {
  const wrong = [];
  await page.ready;
  for (const option of document.querySelectorAll("#example option")) {
    document.getElementById("example").value = option.value;
    document.getElementById("example").dispatchEvent(new Event("change"));
    await page.run();
    const count = (kind) => document.querySelectorAll("#grid td" + kind).length;
    const said = option.value + ": of " + count("") + " cells " + count(".equal") + " are green, " +
                 count(".differs") + " are red";
    if (count("") !== 15 || count(".differs") > 0) wrong.push(said);
    if (option.value === "two_buyer" && count(".equal") !== 15) wrong.push(said);
    if (document.querySelectorAll("#trace li").length === 0) wrong.push(option.value + ": no trace is shown");
  }
  document.getElementById("protocol").value = "protocol P { roles A, B A -> C: x }";
  await page.run();
  const said = document.getElementById("end").textContent;
  if (!said.includes("protocol P has no role C")) wrong.push("a wrong protocol is not refused: " + said);
  return wrong;
})()`;

async function suite(browser, web, randomCount, paths) {
  const files = paths.map((p) => ({ name: path.basename(p), text: fs.readFileSync(p, "utf8") }));
  await browser.open(pageOf(web));
  await browser.evaluate(script("suite.js"));
  const { text, wrong } = await browser.evaluate(
    `page.machine.then((machine) => raddleSuite.all(machine, ${JSON.stringify(files)}, ${randomCount}))`);
  const all = [...wrong, ...(await browser.evaluate(lookAtPage))];
  fs.writeFileSync(1, text);
  if (all.length > 0) fs.writeFileSync(2, all.join("\n") + "\n");
  process.exitCode = all.length > 0 ? 1 : 0;
}

async function picture(browser, web, file, width = "1280", height = "900") {
  await browser.open(pageOf(web), Number(width), Number(height));
  await browser.evaluate("page.ready");
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
