// What somebody sees in a real browser. `node see.mjs <modules> <browser> <what> <site> [<file> <colours>]` ends well, or says what was wrong.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, executablePath, what, site, file, colorScheme] = process.argv.slice(2);
const require = createRequire(join(modules, "from-here.js"));
const { chromium } = require("playwright-core");
const PAGES = ["", "crosstable", "schedule", "agents", "log", "players/P01", "matches/R1M1", "at/12/", "nothing"];
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

const looks = {
  // A league from its registration to its champion, without a reload.
  async live() {
    const page = await opened("");
    const other = await opened("schedule");
    await page.evaluate(() => { globalThis.untouched = true; });
    await page.getByText("Registration is open").waitFor();
    await page.locator("#live[data-on]").waitFor();
    await page.locator("#join").getByText(`--manager ${site}mcp`).first().waitFor();
    console.log("watching");
    await page.locator("#champion").waitFor({ timeout: 60_000 });
    assert.equal(await page.locator("#join").count(), 0, "nobody can join any more");
    assert.equal(await page.evaluate(() => globalThis.untouched), true, "the page was loaded again");
    const points = await page.locator("#standings tbody .points").allTextContents();
    assert.deepEqual(points.map(Number), points.map(Number).sort((a, b) => b - a), "the table is not in order");
    await page.locator("#chart polyline").first().waitFor();
    await other.getByText("beats").or(other.getByText("draw")).first().waitFor({ timeout: 60_000 });
  },

  // The draw, verified in the page; whatever is changed is refused.
  async verify() {
    // Browsers lend their SHA-256 only to pages of this machine; without it the page computes its own.
    for (const lent of [true, false]) {
      const page = await opened("matches/R1M1");
      if (!lent) await page.evaluate(() => Object.defineProperty(crypto, "subtle", { value: undefined }));
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
    await page.locator("#transcript details").first().click();
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
    await page.locator("#proof, #draw .empty").first().waitFor();
    await until(() => document.activeElement.id === "verify");
    await page.keyboard.press("Enter");
    await page.locator("#verdict[data-good=yes]").waitFor();
  },

  // No serious finding of axe, light and dark, and nothing that does not fit.
  async shape() {
    const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    for (const path of PAGES) {
      for (const [colorScheme, examined] of [["light", 1280], ["dark", 360]]) {
        const page = await opened(path, { colorScheme, bypassCSP: true });
        for (const width of [360, 1280, 1920]) {
          await page.setViewportSize({ width, height: 900 });
          const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          assert.equal(over, 0, `${path} is ${over} pixels too wide at ${width}`);
          if (width !== examined) continue;
          await page.evaluate(axe);
          const { violations } = await page.evaluate(() => axe.run());
          const serious = violations.filter((finding) => ["serious", "critical"].includes(finding.impact));
          const told = serious.map((finding) => `${finding.id}: ${finding.nodes.map((node) => node.html).slice(0, 3)}`);
          assert.deepEqual(told, [], `${path}, ${colorScheme}, ${width}`);
        }
        await page.context().close();
      }
    }
  },

  // A picture for the README.
  async picture() {
    const page = await opened("", { viewport: { width: 1200, height: 1064 }, colorScheme });
    await page.waitForFunction(() => document.getElementById("live").textContent !== "not live");
    await page.screenshot({ path: file });
  },
};

try {
  await looks[what]();
} finally {
  await browser.close();
}
