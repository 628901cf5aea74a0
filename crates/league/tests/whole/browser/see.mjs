// What a viewer sees in a real browser. `node see.mjs <modules> <browser> <what> <site> [<more>...]` ends well, or says what was wrong.
// <what> may name several looks, separated by commas.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, executablePath, what, site, ...more] = process.argv.slice(2);
const require = createRequire(join(modules, "from-here.js"));
const { chromium } = require("playwright-core");
const PAGES = ["", "crosstable", "schedule", "agents", "log", "players/P01", "matches/R1M1", "at/12/", "projector", "nothing"];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

async function opened(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => assert.fail(`${path}: ${error.message}`));
  page.on("console", (message) => {
    // A page that is not there is one of those that are looked at.
    if (message.type() === "error" && !message.text().includes("404")) assert.fail(`${path}: ${message.text()}`);
  });
  page.on("request", (request) => assert(request.url().startsWith(site), `${request.url()} is elsewhere`));
  await page.goto(site + path, { waitUntil: "load" });
  return page;
}

// A page as it stays: the projector has shown the results of a round, and waits.
async function settled(path, options) {
  const page = await opened(path, options);
  if (path.startsWith("projector")) {
    await page.waitForFunction(() => !document.querySelector(".veiled"), null, { polling: 50 });
    await page.keyboard.press(" ");
  }
  return page;
}

const looks = {
  // A league from its registration to its champion, without a reload.
  async live() {
    const page = await opened("");
    const other = await opened("schedule");
    const projector = await opened("projector");
    await page.evaluate(() => { globalThis.untouched = true; });
    await page.getByText("Registration is open").waitFor();
    await page.locator("#live[data-on]").waitFor();
    await page.locator("#join").getByText(`--manager ${site}mcp`).first().waitFor();
    assert.equal(await page.locator("#operate [value=start]").count(), 1);
    console.log("watching");
    const round = projector.locator("#projector-round b");
    await round.waitFor({ timeout: 60_000 });
    assert.equal(await round.textContent(), "1", "the projector begins with the end");
    await page.locator("#champion").waitFor({ timeout: 60_000 });
    await page.locator("#operate").getByText("The league is over.").waitFor({ state: "attached" });
    assert.equal(await page.locator("#join").count(), 0, "nobody can join any more");
    assert.equal(await page.evaluate(() => globalThis.untouched), true, "the page was loaded again");
    const points = await page.locator("#standings tbody .points").allTextContents();
    assert.deepEqual(points.map(Number), points.map(Number).sort((a, b) => b - a), "the table is not in order");
    await page.locator("#chart polyline").first().waitFor({ state: "attached" });
    await other.getByText("beats").or(other.getByText("draw")).first().waitFor({ timeout: 60_000 });
  },

  // The draw, verified in the page; whatever is changed is refused.
  async verify() {
    // Browsers lend their SHA-256 only to pages of this machine; without it the page computes its own.
    for (const lent of [true, false]) {
      const page = await opened("matches/R1M1");
      if (!lent) await page.evaluate(() => Object.defineProperty(crypto, "subtle", { value: undefined }));
      await page.locator("#draw summary").click();
      await page.locator("#verify").click();
      await page.locator("#verdict[data-good=yes]").waitFor();
      for (const field of ["commitment", "secret", "match", "attempt", "nonce-a", "nonce-b", "seal", "number"]) {
        const input = page.locator(`#proof-${field}`);
        const honest = await input.inputValue();
        const wrong = field === "number" ? String((Number(honest) % 10) + 1) : field === "attempt" ? "2" : honest.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
        await input.fill(wrong);
        await page.locator("#verify").click();
        await page.locator("#verdict[data-good=no]").waitFor();
        await input.fill(honest);
        await page.locator("#verify").click();
        await page.locator("#verdict[data-good=yes]").waitFor();
      }
    }
  },

  // Every page without a script.
  async still() {
    for (const path of PAGES) {
      const page = await opened(path, { javaScriptEnabled: false });
      assert((await page.locator("main h1").first().innerText()).length > 0, path);
      await page.context().close();
    }
    const page = await opened("", { javaScriptEnabled: false });
    await page.getByRole("link", { name: "Schedule" }).click();
    await page.getByRole("heading", { name: "Schedule" }).waitFor();
    await page.locator("#schedule a[href^='matches/']").first().click();
    await page.locator("#draw").waitFor();
    await page.locator("#transcript summary").first().click();
    await page.locator("#transcript li summary").first().click();
    await page.locator("#transcript pre").first().waitFor();
    await page.locator("#moment").focus();
    await page.keyboard.press("Home");
    await page.getByRole("button", { name: "Go there" }).click();
    await page.waitForURL(/\/at\/1\//);
  },

  // With the keys alone: past the navigation, to a player, to a match, and its draw verified.
  async keys() {
    const page = await opened("");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    const until = async (wanted) => {
      for (let step = 0; step < 80; step++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate(wanted)) return;
      }
      assert.fail(`the keys do not lead to ${wanted}`);
    };
    await until(() => document.activeElement.getAttribute("href")?.startsWith("players/"));
    await page.keyboard.press("Enter");
    await page.locator("#player").waitFor();
    await until(() => document.activeElement.getAttribute("href")?.startsWith("matches/"));
    await page.keyboard.press("Enter");
    await page.locator("#draw").waitFor();
    await until(() => document.activeElement.matches("#draw summary"));
    await page.keyboard.press("Enter");
    await until(() => document.activeElement.id === "verify");
    await page.keyboard.press("Enter");
    await page.locator("#verdict[data-good=yes]").waitFor();
  },

  // A reader's own player is marked on every page, until it is unpinned.
  async pin() {
    const page = await opened("players/P02");
    await page.getByRole("button", { name: "pin as my player" }).click();
    for (const path of ["", "schedule", "crosstable"]) {
      await page.goto(site + path);
      await page.locator(".mine a[href='players/P02']").first().waitFor();
    }
    await page.goto(`${site}players/P02`);
    await page.getByRole("button", { name: "my player", pressed: true }).click();
    await page.goto(site);
    await page.locator("#standings").waitFor();
    assert.equal(await page.locator(".mine").count(), 0);
  },

  // At the width of a phone the points and the form of every player are in sight.
  async phone() {
    const page = await opened("", { viewport: { width: 390, height: 844 } });
    for (const wanted of ["#standings tbody .points", "#standings tbody .form"]) {
      const box = await page.locator(wanted).first().boundingBox();
      assert(box && box.x >= 0 && box.x + box.width <= 390, `${wanted} is at ${JSON.stringify(box)}`);
    }
  },

  // On paper: all facts of a match, open, in black on white, and no navigation.
  async print() {
    const page = await opened("matches/R1M1", { colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    for (const hidden of [".top nav", "footer", "#live"]) assert(!(await page.locator(hidden).isVisible()), `${hidden} is printed`);
    assert(await page.locator(".duel").isVisible() && await page.locator("#steps").isVisible());
    const colours = await page.evaluate(() => { const body = getComputedStyle(document.body); return [body.color, body.backgroundColor]; });
    assert.deepEqual(colours, ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]);
    const behind = await page.evaluate(() => getComputedStyle(document.querySelector(".duel")).backgroundColor.match(/\d+/g).map(Number));
    assert(behind.every((part) => part > 200), `black text on ${behind}, because the screen is dark`);
    for (const facts of ["#draw #proof", "#timeline table", "#transcript pre"]) assert(await page.locator(facts).first().isVisible(), `${facts} is not printed`);
    for (const path of PAGES.filter((path) => path !== "nothing" && path !== "projector")) {
      await page.goto(site + path);
      for (const hidden of [".top nav", "footer", "#live", ".operate", ".search"]) {
        for (const part of await page.locator(hidden).all()) assert(!(await part.isVisible()), `${hidden} of /${path} is printed`);
      }
      // What does not fit the width of a sheet would be cut off.
      await page.setViewportSize({ width: 720, height: 1000 });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(over, 0, `/${path} is ${over} pixels wider than paper`);
      assert((await page.pdf({ format: "A4" })).length > 10_000);
    }
    await page.goto(site);
    const rows = await page.locator("#standings tbody tr").all();
    assert.equal(rows.length, 5);
    for (const row of rows) assert(await row.isVisible());
  },

  // Without a script the page of a match has every fact: who, what, why, when, the proof and every message.
  async facts() {
    const page = await opened("matches/R1M1", { javaScriptEnabled: false });
    const text = await page.locator("main").textContent();
    for (const fact of [/beats|draw|wins/, /drawn/, /was asked for a choice: answered/, /Commitment/, /GAME_OVER|CHOOSE_PARITY_CALL/, /ms/]) assert.match(text, fact);
    const [a, b] = await page.locator(".duel .played").allTextContents();
    for (const choice of [a, b]) assert(["even", "odd"].includes(choice.trim()), choice);
    for (const folded of ["#draw", "#timeline", "#transcript"]) assert(!(await page.locator(`${folded} > details`).getAttribute("open")), `${folded} is in the way`);
  },

  // A match while it is played: the clock runs down, and the moves or the draw appear without a reload.
  async duel() {
    let page;
    // The first match may be over before a slow machine has started the browser.
    for (const match of ["R1M1", "R2M1", "R3M1"]) {
      page = await opened("schedule");
      await page.locator(`a[href="matches/${match}"]`).first().waitFor({ timeout: 60_000 });
      await page.goto(`${site}matches/${match}`);
      await page.evaluate(() => { globalThis.untouched = true; });
      await page.locator(".clock, .duel[data-state=over]").first().waitFor({ timeout: 60_000 });
      if (await page.locator(".clock").count()) break;
    }
    const left = () => page.evaluate(() => Number(document.querySelector(".clock")?.dataset.left ?? NaN));
    const before = await left();
    // The script alone, without an answer of the server, lets the clock run.
    await page.waitForFunction((before) => Number(document.querySelector(".clock")?.dataset.left) < before, before, { polling: 50, timeout: 2_000 });
    assert.match(await page.locator("#phase").textContent(), /Waiting for the move of|asks for the next move|Both have moved/);
    if (more[0] === "board") {
      const first = await page.locator("#board svg").innerHTML();
      await page.waitForFunction((first) => document.querySelector("#board svg").innerHTML !== first, first, { timeout: 30_000 });
    } else {
      await page.locator(".duel[data-state=over] .reveal").waitFor({ timeout: 30_000 });
      assert.match(await page.locator(".duel .reveal").textContent(), /^([1-9]|10)$/);
      assert.equal(await page.locator(".clock").count(), 0);
    }
    assert.equal(await page.evaluate(() => globalThis.untouched), true, "the page was loaded again");
  },

  // A knockout as a bracket, a Swiss tournament with the reasons of its pairings.
  async bracket() {
    const page = await opened("schedule");
    assert.equal(await page.locator(".bracket > li").count(), 2);
    assert.equal(await page.locator(".bracket .tie").count(), 3);
    assert.equal(await page.locator(".bracket [data-through=true]").count(), 3);
  },
  async swiss() {
    const page = await opened("schedule?round=2");
    await page.locator(".paired").first().waitFor();
    assert.match(await page.locator(".paired").first().textContent(), /had \d/);
  },

  // On a projector a league that is over is told from its first round, result by result, in large letters.
  async projector() {
    const page = await opened("projector", { viewport: { width: 1920, height: 1080 } });
    const round = () => page.locator("#projector-round b").textContent();
    await page.locator("#results .veiled").first().waitFor({ state: "attached" });
    assert.equal(await round(), "1");
    assert(!(await page.locator("#champion").isVisible()), "the end is in sight");
    await page.locator("#results .arrived").first().waitFor();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.querySelector("#projector-round b").textContent === "2");
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Go on" }).waitFor();
    const size = await page.evaluate(() => parseFloat(getComputedStyle(document.querySelector("#results .who")).fontSize));
    assert(size >= 24, `${size} px cannot be read from the back of a room`);
    const still = await opened("projector?round=1", { javaScriptEnabled: false });
    await still.getByRole("link", { name: "Round 2" }).click();
    assert.equal(await still.locator("#projector-round b").textContent(), "2");
    assert(await still.locator("#table tbody tr").first().isVisible());
  },

  // A table is sorted by a column, both ways, with the keys.
  async sort() {
    const page = await opened("");
    const head = page.locator("#standings th[data-sort=number]").last();
    const column = await head.evaluate((head) => head.cellIndex);
    const values = () => page.evaluate((column) => [...document.querySelectorAll("#standings tbody tr")].map((row) => Number.parseFloat(row.cells[column].dataset.value ?? row.cells[column].textContent)), column);
    await head.locator("button").focus();
    await page.keyboard.press("Enter");
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    const down = await values();
    assert.deepEqual(down, [...down].sort((a, b) => b - a));
    await page.keyboard.press("Enter");
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    assert.deepEqual(await values(), [...down].sort((a, b) => a - b));
    assert(new Set(down).size > 1, "all values are equal");
  },

  // The operator stops the league, by the form of the first page.
  async stop() {
    const page = await opened("");
    await page.locator("#operate summary").click();
    await page.getByRole("button", { name: "Stop after the running matches" }).click();
    await page.locator("[data-phase=stopped]").waitFor();
  },

  // The moves on the board or in the list, with the keys alone.
  async replay() {
    const page = await opened("matches/R1M1");
    const at = () => page.locator("#replay").getAttribute("data-at").then(Number);
    const last = await at();
    await page.keyboard.press("Home");
    assert.equal(await at(), 0);
    await page.keyboard.press("ArrowRight");
    assert.equal(await at(), 1);
    await page.keyboard.press("End");
    assert.equal(await at(), last);
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.keyboard.press("Home");
    await page.getByRole("slider", { name: "Move" }).focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await at(), 1, "the slider moves by the keys");
    if (more[0] === "list") assert.equal(await page.locator("#replay .now").count(), 1);
    else assert.equal(await page.locator("#replay figure:visible").count(), 1);
  },

  // No finding of axe, light and dark, and nothing that does not fit.
  async shape() {
    const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    const found = [];
    for (const path of more[0]?.split(",") ?? PAGES) {
      const page = await settled(path, { bypassCSP: true });
      await page.evaluate(axe);
      for (const width of [360, 768, 1280, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(over, 0, `${path} is ${over} pixels too wide at ${width}`);
        const colorScheme = { 360: "dark", 1280: "light" }[width];
        if (colorScheme) {
          await page.emulateMedia({ colorScheme });
          const { violations } = await page.evaluate(() => axe.run());
          for (const { id, nodes } of violations) found.push(`/${path}, ${colorScheme}: ${id}: ${nodes.map((node) => node.html).slice(0, 3)}`);
        }
      }
      await page.context().close();
    }
    assert.deepEqual(found, []);
  },

  // A picture for the README.
  async picture() {
    const [file, colorScheme, path = ""] = more;
    const page = await opened(path, { viewport: { width: 1200, height: 1000 }, colorScheme });
    await page.waitForFunction(() => document.getElementById("live").textContent !== "not live");
    await page.screenshot({ path: file });
  },

  // Pictures of pages in every width and colour: `<directory>/<state>-<page>-<width>-<colour>.png`.
  async gallery() {
    const [directory, state, paths] = more;
    for (const path of paths.split(",")) {
      for (const colorScheme of ["light", "dark"]) {
        const page = await settled(path, { colorScheme });
        for (const width of [1440, 768, 390]) {
          await page.setViewportSize({ width, height: 900 });
          const name = path.replaceAll(/[^A-Za-z0-9]+/g, "_") || "league";
          await page.screenshot({ path: join(directory, `${state}-${name}-${width}-${colorScheme}.png`), fullPage: true });
        }
        await page.context().close();
      }
    }
  },
};

try {
  for (const look of what.split(",")) await looks[look]();
} finally {
  await browser.close();
}
