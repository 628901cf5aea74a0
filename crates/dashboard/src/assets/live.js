// Keeps a page up to date, and verifies draws. Everything works without it, only not by itself.
"use strict";
(() => {
  const body = document.body;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const sign = document.getElementById("live");

  function say(on) {
    if (!sign) return;
    // The first page gets the end of the league as a part, with its state.
    if (document.querySelector('#status [data-state="LEAGUE_COMPLETED"]')) sign.dataset.now = "final";
    const words = { live: "live", kept: "not running", final: "final" };
    sign.textContent = on ? words[sign.dataset.now] : "waiting for the league";
    sign.toggleAttribute("data-on", on && sign.dataset.now === "live");
  }

  // Puts a new version of an element in the place of the old one. Whoever reads there keeps the focus and the scroll position, and
  // the rows of a table move to where they are now.
  function replace(old, fresh) {
    if (old.outerHTML === fresh.outerHTML) return;
    const inside = old.contains(document.activeElement) ? document.activeElement : null;
    const focus = inside && path(old, inside);
    const typed = inside && "value" in inside ? inside.value : null;
    const scrolls = [...old.querySelectorAll(".wide, .news")].map((part) => [part.scrollLeft, part.scrollTop]);
    const open = new Set([...old.querySelectorAll("details[open]")].map((part) => path(old, part).join()));
    const before = still.matches ? null : places(old);
    old.replaceWith(fresh);
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
    const source = new EventSource(`/live?since=${body.dataset.seq}${whole ? "&quiet" : ""}`);
    source.onopen = () => say(true);
    source.onerror = () => say(false);
    source.addEventListener("part", (event) => waiting.push(JSON.parse(event.data)));
    const first = Number(body.dataset.seq);
    source.addEventListener("seq", (event) => {
      const parts = waiting;
      waiting = [];
      // A league that is shown from its log goes on: its manager runs elsewhere.
      if (sign && sign.dataset.now === "kept" && Number(event.data) > first) sign.dataset.now = "live";
      if (!whole) {
        for (const { part, html } of parts) {
          const old = document.getElementById(part);
          const fresh = parsed(html);
          if (old && fresh) replace(old, fresh);
        }
        reached(event.data);
        say(true);
      } else if (!asked) {
        // Not everybody at the same time.
        asked = setTimeout(async () => {
          await fetched();
          asked = null;
        }, 1000 + Math.random() * 1000);
      }
    });
  }

  async function fetched() {
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const sections = [...document.querySelectorAll("main section[id]")].filter((part) => !part.parentElement.closest("section[id]"));
      const fresh = [...page.querySelectorAll("main section[id]")].filter((part) => !part.parentElement.closest("section[id]"));
      if (sections.map((part) => part.id).join() === fresh.map((part) => part.id).join()) {
        sections.forEach((old, index) => replace(old, document.adoptNode(fresh[index])));
      } else {
        document.querySelector("main").replaceChildren(...document.adoptNode(page.querySelector("main")).childNodes);
      }
      reached(page.body.dataset.seq);
      const now = page.getElementById("live");
      if (sign && now && now.dataset.now === "final") sign.dataset.now = "final";
      say(true);
      offerToVerify();
      offerReplay();
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

  // Shows one board at a time, with buttons, a slider and the arrow keys. Without script all boards stand side by side.
  function offerReplay() {
    const boards = document.querySelector("#replay .boards");
    if (!boards || boards.dataset.at) return;
    const frames = [...boards.querySelectorAll("figure")];
    const bar = parsed(`<form class="player"><button type="button" value="-1">Back</button><button type="button" value="play">Play</button>
      <button type="button" value="1">Next</button><input type="range" aria-label="Move" min="0" max="${frames.length - 1}"></form>`);
    const [range, play] = [bar.querySelector("input"), bar.querySelector('[value="play"]')];
    let timer = null;
    const show = (at) => {
      boards.dataset.at = range.value = Math.max(0, Math.min(frames.length - 1, at));
      frames.forEach((frame, index) => { frame.hidden = index !== Number(range.value); });
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
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || event.target.matches("input, select, textarea, [tabindex]")) return;
      pause();
      step(by);
    });
    boards.before(bar);
    show(frames.length - 1);
  }

  const slider = document.getElementById("moment");
  if (slider) slider.oninput = () => { slider.form.querySelector("output").textContent = slider.value; };
  offerToVerify();
  offerReplay();
  if (body.dataset.live !== "no") watch();
})();
