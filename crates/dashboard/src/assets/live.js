// Keeps a page up to date, and verifies draws. Without it the pages are complete and do not update.
"use strict";
(() => {
  const body = document.body;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const sign = document.getElementById("live");

  function say(on) {
    if (!sign) return;
    // The first page gets the league's state as a part.
    const phase = document.getElementById("status")?.dataset.phase;
    if (phase && sign.dataset.now !== "kept") sign.dataset.now = { finished: "final", stopped: "stopped" }[phase] ?? "live";
    const words = { live: "live", kept: "not running", stopped: "stopped", final: "final" };
    const text = on ? words[sign.dataset.now] : "waiting for the league";
    // A screen reader may announce each assignment, also of an equal text.
    if (sign.textContent !== text) sign.textContent = text;
    sign.toggleAttribute("data-on", on && sign.dataset.now === "live");
  }

  // The state of the league as a fetched page has it.
  function sayAs(page) {
    const now = page.getElementById("live");
    if (sign && now && now.dataset.now !== "kept") sign.dataset.now = now.dataset.now;
    say(true);
  }

  // The text of an element before this script changed it.
  const asSent = new WeakMap();

  // Puts a new version of an element in the place of the old one. The reader keeps the focus and the scroll position, and
  // the rows of a table move to where they are now.
  function replace(old, fresh) {
    const sent = fresh.outerHTML;
    if ((asSent.get(old) ?? old.outerHTML) === sent) return;
    asSent.set(fresh, sent);
    const inside = old.contains(document.activeElement) ? document.activeElement : null;
    const focus = inside && path(old, inside);
    const typed = inside && "value" in inside ? inside.value : null;
    const scrolls = [...old.querySelectorAll(".wide, .news")].map((part) => [part.scrollLeft, part.scrollTop]);
    const open = new Set([...old.querySelectorAll("details[open]")].map((part) => path(old, part).join()));
    const before = still.matches ? null : places(old);
    const states = new Map([...old.querySelectorAll("li[id][data-state]")].map((one) => [one.id, one.dataset.state]));
    old.replaceWith(fresh);
    offerSort(fresh);
    [...fresh.querySelectorAll(".wide, .news")].forEach((part, index) => {
      if (scrolls[index]) [part.scrollLeft, part.scrollTop] = scrolls[index];
    });
    for (const part of fresh.querySelectorAll("details")) if (open.has(path(fresh, part).join())) part.open = true;
    if (focus) {
      const again = (inside.id && document.getElementById(inside.id)) || find(fresh, focus);
      if (again) {
        if (typed !== null && "value" in again) again.value = typed;
        again.focus({ preventScroll: true });
      }
    }
    if (before) move(fresh, before);
    // A result that was not there before arrives.
    for (const result of fresh.querySelectorAll('li[id][data-state="done"]')) {
      if (states.get(result.id) && states.get(result.id) !== "done") result.classList.add("arrived");
    }
    showPinned();
  }

  // The reader's own player is marked on every page. Only this browser knows which one it is.
  const pin = `pinned ${body.dataset.league}`;
  const pinned = () => { try { return localStorage.getItem(pin); } catch { return null; } };

  function showPinned() {
    const own = pinned();
    for (const marked of document.querySelectorAll(".mine")) marked.classList.remove("mine");
    for (const link of own ? document.querySelectorAll(`main a[href="players/${CSS.escape(own)}"]`) : []) (link.closest("tr, li, .corner") || link).classList.add("mine");
    const title = document.querySelector("#player h1");
    if (!title) return;
    const id = title.querySelector("small").textContent;
    let button = title.querySelector(".pin");
    if (!button) {
      title.append(button = parsed('<button type="button" class="pin"></button>'));
      button.onclick = () => {
        try {
          if (pinned() === id) localStorage.removeItem(pin); else localStorage.setItem(pin, id);
        } catch {
          // A browser that keeps nothing pins nothing.
        }
        showPinned();
      };
    }
    button.textContent = own === id ? "★ my player" : "☆ pin as my player";
    button.setAttribute("aria-pressed", String(own === id));
  }

  // The columns by which the reader sorted tables, by the id of the table. A new version of a table is sorted again.
  const sortedBy = new Map();

  function offerSort(root) {
    for (const head of root.querySelectorAll("th[data-sort]")) {
      if (head.querySelector("button")) continue;
      const button = parsed('<button type="button" class="sort"></button>');
      button.append(...head.childNodes);
      head.append(button);
      button.onclick = () => {
        const table = head.closest("table");
        const was = sortedBy.get(table.id);
        // Large numbers come first, small ranks and letters too.
        const down = was && was.column === head.cellIndex ? !was.down : head.dataset.sort === "number";
        sortedBy.set(table.id, { column: head.cellIndex, down });
        sort(table);
      };
    }
    for (const table of root.querySelectorAll("table[id]")) if (sortedBy.has(table.id)) sort(table);
  }

  function sort(table) {
    const { column, down } = sortedBy.get(table.id);
    const heads = [...table.tHead.rows[0].cells];
    if (!heads[column]) return;
    heads.forEach((head, index) => {
      if (index === column) head.setAttribute("aria-sort", down ? "descending" : "ascending"); else head.removeAttribute("aria-sort");
    });
    const isText = heads[column].dataset.sort === "text";
    const value = (row) => {
      const text = row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      return isText ? text : Number.parseFloat(text);
    };
    const rows = [...table.tBodies[0].rows].map((row) => [value(row), row]);
    // What is missing comes last in both directions.
    const missing = (one) => one === "" || Number.isNaN(one);
    rows.sort(([a], [b]) => missing(a) - missing(b) || (missing(a) ? 0 : (isText ? a.localeCompare(b) : a - b) * (down ? -1 : 1)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  function path(root, element) {
    const steps = [];
    for (let at = element; at !== root; at = at.parentElement) steps.unshift([...at.parentElement.children].indexOf(at));
    return steps;
  }

  function find(root, steps) {
    return steps.reduce((at, step) => at && at.children[step], root);
  }

  function places(root) {
    return new Map([...root.querySelectorAll("tbody tr[id]")].map((row) => [row.id, row.getBoundingClientRect().top]));
  }

  function move(root, before) {
    for (const row of root.querySelectorAll("tbody tr[id]")) {
      const from = before.get(row.id);
      if (from === undefined) continue;
      const by = from - row.getBoundingClientRect().top;
      if (Math.abs(by) > 1) row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 400, easing: "ease-out" });
    }
  }

  function parsed(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content.firstElementChild;
  }

  function reached(seq) {
    body.dataset.seq = seq;
    const shown = document.getElementById("seq");
    if (shown) shown.textContent = seq;
  }

  // The first page comes in parts, several at once; a further page of its table is fetched like any other page.
  function watch() {
    const whole = location.search !== "" || body.dataset.live !== "parts";
    let waiting = [];
    let asked = null;
    const source = new EventSource(`live?since=${body.dataset.seq}${whole ? "&quiet" : ""}`);
    let again = false;
    source.onopen = () => {
      say(true);
      // Another manager may lead the league now.
      if (again && body.dataset.live !== "projector") fetchSoon("operate");
      again = true;
    };
    source.onerror = () => say(false);
    source.addEventListener("part", (event) => waiting.push(JSON.parse(event.data)));
    const first = Number(body.dataset.seq);
    source.addEventListener("seq", (event) => {
      const parts = waiting;
      waiting = [];
      // A league that is shown from its log goes on: its manager runs elsewhere.
      if (sign && sign.dataset.now === "kept" && Number(event.data) > first) sign.dataset.now = "live";
      if (!whole) {
        const before = document.getElementById("status")?.dataset.phase;
        for (const { part, html } of parts) {
          const old = document.getElementById(part);
          const fresh = parsed(html);
          if (old && fresh) replace(old, fresh);
        }
        reached(event.data);
        say(true);
        // The operator's form is no part, and offers other actions now.
        if (document.getElementById("status")?.dataset.phase !== before) fetchSoon("operate");
      } else if (body.dataset.live === "projector") {
        latest = Number(event.data);
        wake();
      } else fetchSoon();
    });
    // Viewers do not all ask at the same time.
    function fetchSoon(only) {
      asked ??= setTimeout(async () => {
        asked = null;
        await fetched(only);
      }, 1000 + Math.random() * 1000);
    }
  }

  // Replaces all sections, or `only` one.
  async function fetched(only) {
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (!answer.ok) return;
      const running = document.querySelector("[data-running]");
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const sections = [...document.querySelectorAll("main section[id]")].filter((part) => !part.parentElement.closest("section[id]"));
      const fresh = [...page.querySelectorAll("main section[id]")].filter((part) => !part.parentElement.closest("section[id]"));
      if (sections.map((part) => part.id).join() === fresh.map((part) => part.id).join()) {
        // The moves of a finished match do not change, and a reader may be in the middle of them.
        sections.forEach((old, index) => { if (only ? old.id === only : old.id !== "replay") replace(old, document.adoptNode(fresh[index])); });
      } else {
        document.querySelector("main").replaceChildren(...document.adoptNode(page.querySelector("main")).childNodes);
        offerSort(document);
        showPinned();
      }
      const [notice, now] = [document, page].map((of) => of.querySelector("body > aside"));
      if (notice && now) replace(notice, document.adoptNode(now)); else notice?.remove();
      reached(page.body.dataset.seq);
      sayAs(page);
      offerToVerify();
      offerReplay();
      // The end of a match that was watched is revealed.
      const duel = document.querySelector(".duel[data-state=over]");
      if (duel && running && !still.matches) duel.classList.add("arrived");
    } catch {
      // The stream says when the league is back.
    }
  }

  // SHA-256 of bytes. Browsers lend theirs only to pages that came by HTTPS or from this machine, and a class comes by neither.
  async function sha256(bytes) {
    if (globalThis.crypto && crypto.subtle) return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const turn = (word, by) => (word >>> by) | (word << (32 - by));
    const primes = [];
    for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
    const part = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
    const keys = primes.map((p) => part(Math.cbrt(p)));
    const state = primes.slice(0, 8).map((p) => part(Math.sqrt(p)));
    const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
    padded.set(bytes);
    padded[bytes.length] = 128;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 4, bytes.length * 8);
    for (let block = 0; block < padded.length; block += 64) {
      const w = [];
      for (let i = 0; i < 64; i++) {
        if (i < 16) { w[i] = view.getInt32(block + 4 * i); continue; }
        const [x, y] = [w[i - 15], w[i - 2]];
        w[i] = (w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))) | 0;
      }
      let [a, b, c, d, e, f, g, h] = state;
      for (let i = 0; i < 64; i++) {
        const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + keys[i] + w[i]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
      }
      [a, b, c, d, e, f, g, h].forEach((word, i) => { state[i] = (state[i] + word) | 0; });
    }
    const out = new DataView(new ArrayBuffer(32));
    state.forEach((word, i) => out.setInt32(4 * i, word));
    return new Uint8Array(out.buffer);
  }

  const joined = (...pieces) => {
    const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
    let at = 0;
    for (const piece of pieces) { all.set(piece, at); at += piece.length; }
    return all;
  };
  const four = (number) => { const bytes = new Uint8Array(4); new DataView(bytes.buffer).setUint32(0, number); return bytes; };
  const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => {
    if (!/^[0-9a-f]{64}$/i.test(text)) throw new Error("expected 64 hexadecimal digits");
    return new Uint8Array(text.match(/../g).map((pair) => parseInt(pair, 16)));
  };

  async function hmac(key, message) {
    const block = new Uint8Array(64);
    block.set(key);
    const inner = await sha256(joined(block.map((byte) => byte ^ 0x36), message));
    return sha256(joined(block.map((byte) => byte ^ 0x5c), inner));
  }

  // As PROTOCOL.md defines it, section 8: each field behind its length.
  async function seal(key, ...fields) {
    return hmac(key, joined(...fields.flatMap((field) => [four(field.length), field])));
  }

  async function verdict(claim) {
    const text = (words) => new TextEncoder().encode(words);
    const secret = unhex(claim.secret);
    if (hex(await sha256(secret)) !== claim.commitment.toLowerCase()) return "Refused: the secret does not belong to the commitment.";
    const own = await seal(secret, text(claim.match), four(Number(claim.attempt)), text(claim["nonce-a"]), text(claim["nonce-b"]));
    if (claim.seal && hex(own) !== claim.seal.toLowerCase()) return "Refused: the seal does not belong to this secret, match, attempt and nonces.";
    let block = own;
    while (block.every((byte) => byte >= 250)) block = await seal(secret, block);
    const number = 1 + (block.find((byte) => byte < 250) % 10);
    if (String(number) !== claim.number.trim()) return `Refused: the draw gives ${number}, not ${claim.number}.`;
    return null;
  }

  function offerToVerify() {
    const form = document.getElementById("proof");
    if (!form) return;
    form.querySelector("button").disabled = false;
    form.onsubmit = async (event) => {
      event.preventDefault();
      const shown = document.getElementById("verdict");
      let refused;
      try {
        refused = await verdict(Object.fromEntries(new FormData(form)));
      } catch (error) {
        refused = `Refused: ${error.message}.`;
      }
      shown.dataset.good = refused ? "no" : "yes";
      shown.textContent = refused || "Verified: commitment, seal and number belong together.";
    };
  }

  // Keys with these belong to the browser.
  const isModified = (event) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;

  // Shows one board or the moves up to one, with buttons, a slider and the arrow keys. Without script all of them are there.
  function offerReplay() {
    const replay = document.getElementById("replay");
    if (!replay || replay.dataset.at) return;
    const boards = [...replay.querySelectorAll("figure")];
    const frames = boards.length ? boards : [...replay.querySelectorAll(".moves li")];
    const bar = parsed(`<form class="player"><button type="button" value="-1">Back</button><button type="button" value="play">Play</button>
      <button type="button" value="1">Next</button><input type="range" aria-label="Move" min="0" max="${frames.length - 1}"></form>`);
    const [range, play] = [bar.querySelector("input"), bar.querySelector('[value="play"]')];
    let timer = null;
    const show = (at) => {
      replay.dataset.at = range.value = Math.max(0, Math.min(frames.length - 1, at));
      const now = Number(range.value);
      frames.forEach((frame, index) => {
        if (boards.length) frame.hidden = index !== now;
        else { frame.classList.toggle("later", index > now); frame.classList.toggle("now", index === now); }
      });
      // Of several games with boards only the one of this board is in sight.
      if (boards.length) for (const game of replay.querySelectorAll(".game")) game.hidden = !game.contains(frames[now]);
    };
    const pause = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
    const step = (by) => show(Number(range.value) + by);
    const start = () => {
      if (Number(range.value) === frames.length - 1) show(0);
      play.textContent = "Pause";
      timer = setInterval(() => { step(1); if (Number(range.value) === frames.length - 1) pause(); }, 700);
    };
    bar.onclick = ({ target }) => {
      if (target === play) timer ? pause() : start();
      else if (target.value === "1" || target.value === "-1") { pause(); step(Number(target.value)); }
    };
    bar.onsubmit = (event) => event.preventDefault();
    range.oninput = () => { pause(); show(Number(range.value)); };
    document.addEventListener("keydown", (event) => {
      if (isModified(event) || !replay.isConnected || event.target.matches("input, select, textarea, button, summary, a, [tabindex]:not(main)")) return;
      const last = frames.length - 1;
      const to = { ArrowLeft: Number(range.value) - 1, ArrowRight: Number(range.value) + 1, Home: 0, End: last }[event.key];
      if (to === undefined && event.key !== " ") return;
      event.preventDefault();
      if (to === undefined) return timer ? pause() : start();
      pause();
      show(to);
    });
    replay.querySelector("h2").after(bar);
    show(frames.length - 1);
  }

  // The projector: one round after the other, result by result, then the table after the round.
  let latest = Number(body.dataset.seq);
  let wake = () => {};

  function offerProjector() {
    const bar = document.querySelector(".projector-bar");
    if (!bar) return;
    const pause = parsed('<button type="button" id="pause"></button>');
    // Counts the rounds that were begun; a round that the reader has left stops.
    let turn = 0;
    let at = 0;
    const hold = (on) => { body.toggleAttribute("data-paused", on); pause.textContent = on ? "Go on" : "Pause"; };
    const held = () => body.hasAttribute("data-paused");
    const wait = async (time, mine) => {
      for (let left = time; left > 0 && mine === turn; left -= held() ? 0 : 100) await new Promise((done) => setTimeout(done, 100));
    };
    const news = async (since) => { while (latest <= since) await new Promise((done) => { wake = done; }); };
    const get = async (round) => {
      const answer = await fetch(new URL(`projector?round=${round}`, document.baseURI));
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      return new DOMParser().parseFromString(await answer.text(), "text/html");
    };
    const put = (id, from) => {
      const [old, fresh] = [document.getElementById(id), from.querySelector(`#${id}`)];
      if (old && fresh) replace(old, document.importNode(fresh, true));
    };

    // After a jump the old table would tell the end, so that it is hidden until the results are there.
    async function play(round, shown, jumps) {
      const mine = ++turn;
      const after = ["table", "winner"];
      const veil = (on) => after.forEach((id) => document.getElementById(id)?.classList.toggle("veiled", on));
      for (at = round; mine === turn;) {
        let page;
        try {
          page = await get(at);
        } catch {
          await wait(2000, mine);
          continue;
        }
        if (mine !== turn) return;
        sayAs(page);
        const [stage, seq] = [page.getElementById("projector"), Number(page.body.dataset.seq)];
        for (const link of bar.querySelectorAll("[rel]")) link.remove();
        pause.after(...[...page.querySelectorAll(".projector-bar [rel]")].map((link) => document.adoptNode(link)));
        const old = document.getElementById("projector");
        const results = stage.querySelectorAll('#results li[data-state="done"]');
        const hidden = [...results].filter((result) => !shown.has(result.id)).map((result) => result.id);
        for (const id of hidden) stage.querySelector(`#${id}`).classList.add("veiled");
        if (!old.dataset.round || !stage.dataset.round) old.replaceWith(document.importNode(stage, true));
        else for (const id of ["projector-round", "results"]) put(id, stage);
        // The league has begun: its first table waits for the results like that after a jump.
        jumps ||= !old.dataset.round;
        if (jumps) { after.forEach((id) => put(id, stage)); veil(true); }
        jumps = false;
        document.getElementById("projector").classList.remove("veiled");
        for (const id of hidden) {
          await wait(Math.max(400, Math.min(1500, 12000 / hidden.length)), mine);
          if (mine !== turn) return;
          const result = document.getElementById(id);
          result.classList.replace("veiled", "arrived");
          shown.add(id);
        }
        for (const id of after) put(id, stage);
        veil(false);
        Object.assign(document.getElementById("projector").dataset, stage.dataset);
        const last = Number(stage.dataset.rounds);
        if (stage.dataset.complete === "true" && at < last) {
          await wait(4000, mine);
          if (mine === turn) [at, shown] = [at + 1, new Set()];
        } else if (stage.dataset.final === "true" || body.dataset.live === "no") return;
        else {
          await news(seq);
          await wait(300, mine);
        }
      }
    }

    bar.onclick = (event) => {
      const link = event.target.closest("a[rel]");
      if (event.target === pause) hold(!held());
      if (!link) return;
      event.preventDefault();
      play(Number(new URL(link.href).searchParams.get("round")), new Set(), true);
    };
    document.addEventListener("keydown", (event) => {
      if (isModified(event)) return;
      const link = { ArrowLeft: '[rel="prev"]', ArrowRight: '[rel="next"]' }[event.key];
      if (link) bar.querySelector(link)?.click();
      else if (event.key === " " && !event.target.matches("button, a")) hold(!held()); else return;
      event.preventDefault();
    });
    bar.prepend(pause);
    hold(false);
    const stage = document.getElementById("projector");
    const asked = Number(new URLSearchParams(location.search).get("round"));
    const done = new Set([...stage.querySelectorAll('#results li[data-state="done"]')].map((result) => result.id));
    // A league that is over is shown from its beginning, without its end in sight.
    const again = asked || stage.dataset.final === "true";
    if (again) stage.classList.add("veiled");
    play(asked || (stage.dataset.final === "true" ? 1 : Number(stage.dataset.round || 1)), again ? new Set() : done, again);
  }

  // The clocks of a running match, and of a registration that closes; a page of such a match is fetched every second, because its moves are no events.
  let counted = performance.now();
  setInterval(() => {
    const passed = performance.now() - counted;
    counted += passed;
    for (const clock of document.querySelectorAll(".clock")) {
      const left = Math.max(0, Number(clock.dataset.left) - passed);
      clock.dataset.left = left;
      clock.querySelector("b").textContent = Math.ceil(left / 1000);
      clock.nextElementSibling.value = left;
    }
  }, 200);
  setInterval(() => {
    if (body.dataset.live === "page" && !document.hidden && document.querySelector("[data-running]")) fetched();
  }, 1000);

  const slider = document.getElementById("moment");
  if (slider) slider.oninput = () => { slider.form.querySelector("output").textContent = slider.value; };
  offerToVerify();
  offerReplay();
  offerSort(document);
  offerProjector();
  showPinned();
  if (body.dataset.live !== "no") watch();
})();
