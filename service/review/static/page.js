"use strict";
// Everything here makes smoother what links and forms do without it.
(() => {
  document.documentElement.classList.add("scripted");
  const keysOff = "turnjudge-keys-off";

  const stored = () => { try { return localStorage.getItem(keysOff) === "1"; } catch { return false; } };
  const store = (off) => { try { localStorage.setItem(keysOff, off ? "1" : "0"); } catch { /* then for this page only */ } };
  let off = stored();

  // A part of a page, as the server writes it for a page of its own.
  const part = async (url) => {
    const answer = await fetch(url, { headers: { "X-Part": "1" }, credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector("[data-part]");
    if (!found || answer.redirected) throw new Error("no part");
    return found;
  };

  // Rows open in place.
  const toggle = async (row) => {
    const place = row.closest("li");
    const open = place.querySelector(".opened");
    if (open) {
      open.remove();
      row.setAttribute("aria-expanded", "false");
      return;
    }
    if (row.getAttribute("aria-busy") === "true") return;
    row.setAttribute("aria-busy", "true");
    try {
      const content = await part(row.href);
      const box = document.createElement("div");
      box.className = "opened";
      box.append(document.importNode(content, true));
      place.append(box);
      row.setAttribute("aria-expanded", "true");
    } catch {
      location.assign(row.href);
    } finally {
      row.removeAttribute("aria-busy");
    }
  };
  for (const row of document.querySelectorAll("a.row")) {
    row.setAttribute("role", "button");
    row.setAttribute("aria-expanded", "false");
  }
  document.addEventListener("click", (event) => {
    const row = event.target.closest?.("a.row");
    if (!row || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    toggle(row);
  });

  // Keys: none while somebody types, and none while Hangul is being composed.
  const typing = (target) => target.closest?.("input:not([type=radio]), textarea, select, [contenteditable]");
  const help = document.getElementById("keys");
  const step = (by) => {
    const rows = [...document.querySelectorAll("a.row")].filter((row) => row.checkVisibility());
    if (!rows.length) return;
    const here = document.activeElement?.closest?.("li")?.querySelector("a.row");
    const at = rows.indexOf(here);
    const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1);
    rows[next].focus();
    rows[next].scrollIntoView({ block: "nearest" });
  };
  const acts = {
    j: () => step(1), "ㅓ": () => step(1), k: () => step(-1), "ㅏ": () => step(-1),
    "/": () => document.getElementById("search")?.focus(),
    "?": () => help?.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || help?.open) return;
    if (event.key === " " && event.target.matches?.("a.row")) {
      event.preventDefault();
      toggle(event.target);
      return;
    }
    if (off || !Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  });
  const tick = document.getElementById("keys-off");
  if (tick) {
    tick.checked = off;
    tick.addEventListener("change", () => { off = tick.checked; store(off); });
  }
  document.getElementById("keys-show")?.addEventListener("click", () => help?.showModal());

  // A job's progress, until it is done: the page is asked for again, and what changed is put in.
  const job = document.querySelector("[data-job]");
  const poll = async () => {
    const here = document.querySelector("[data-job]");
    if (!here) return;
    try {
      const fresh = await part(location.href);
      if (!fresh.querySelector("[data-job]")) {
        location.reload();
        return;
      }
      const now = fresh.querySelector("[data-job]");
      here.querySelector("progress")?.replaceWith(document.importNode(now.querySelector("progress"), true));
      const [said, saying] = [here.querySelector("[data-said]"), now.querySelector("[data-said]")];
      if (said && saying && said.textContent !== saying.textContent) said.textContent = saying.textContent;
    } catch { /* the next round may reach the server */ }
    setTimeout(poll, 1000);
  };
  if (job) setTimeout(poll, 700);

  // Review: a number picks an answer of the field that has the focus, Ctrl+Enter saves and goes on.
  const answering = document.querySelector("form[data-answering]");
  if (answering) {
    document.addEventListener("keydown", (event) => {
      if (event.isComposing || event.keyCode === 229 || off || help?.open) return;
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
        event.preventDefault();
        answering.requestSubmit(answering.querySelector("button.main"));
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
      const field = event.target.matches?.("input[type=radio]") ? event.target.closest("fieldset") : null;
      const choice = field?.querySelectorAll("input[type=radio]")[Number(event.key) - 1];
      if (!choice) return;
      event.preventDefault();
      choice.checked = true;
      choice.focus();
    });
    let sent = false;
    answering.addEventListener("submit", (event) => {
      if (sent) event.preventDefault();
      sent = true;
    });
    window.addEventListener("pageshow", () => { sent = false; });
  }

  // A file that is too large is said before it is sent.
  for (const form of document.querySelectorAll("form[data-most-bytes]")) {
    form.addEventListener("submit", (event) => {
      const sizes = [...form.querySelectorAll("input[type=file]")].flatMap((input) => [...input.files]).map((file) => file.size);
      const note = form.querySelector("[data-too-large]");
      const over = sizes.reduce((sum, size) => sum + size, 0) > Number(form.dataset.mostBytes);
      if (note) note.hidden = !over;
      if (over) event.preventDefault();
    });
  }

  // Live: what comes is told in the header and gathers in a bar at the foot; nothing that is read moves.
  const live = document.getElementById("live");
  if (live) {
    const [news, rows, spike] = ["news", "news-rows", "news-spike"].map((id) => document.getElementById(id));
    const [said, pause] = [document.getElementById("news-said"), live.querySelector("button")];
    let [source, again, told] = [null, 0, 0];
    const put = (element, text) => { if (element.textContent !== text) element.textContent = text; };
    const stand = (state, word) => {
      live.dataset.state = state;
      put(live.querySelector("[data-live=word]"), word);
    };
    const announce = (text, now) => {
      // At most every half minute: what is read aloud is not to be talked over.
      if (!now && Date.now() - told < 30000) return;
      told = Date.now();
      put(said, text);
    };
    const fold = () => { news.hidden = rows.hidden && spike.hidden; };
    const on = {
      state: (now) => {
        stand(now.state, now.word);
        for (const part of live.querySelectorAll("p[data-live]")) put(part, now[part.dataset.live]);
      },
      rows: (now) => {
        put(rows, now.words);
        rows.hidden = false;
        announce(now.words, false);
        fold();
      },
      spikes: (now) => {
        const shown = [...document.querySelectorAll("[data-spike]")];
        for (const each of shown) each.querySelector("[data-closed]").hidden = now.open.includes(each.dataset.spike);
        const fresh = now.newest.find((each) => !shown.some((one) => one.dataset.spike === each.id));
        spike.hidden = !fresh;
        if (fresh) {
          put(spike.querySelector("span"), fresh.words);
          spike.querySelector("a").href = fresh.href;
          announce(spike.textContent, true);
        }
        fold();
      },
      end: () => {
        stop();
        stand("lost", live.dataset.lost);
        put(rows, live.dataset.ended);
        rows.href = location.href;
        rows.hidden = false;
        fold();
      },
    };
    const stop = () => {
      clearTimeout(again);
      source?.close();
      source = null;
    };
    const listen = () => {
      if (source || document.hidden || live.dataset.state === "paused") return;
      source = new EventSource(live.dataset.events);
      for (const [name, act] of Object.entries(on)) source.addEventListener(name, (event) => act(JSON.parse(event.data)));
      source.addEventListener("error", () => {
        stand("lost", live.dataset.lost);
        if (source?.readyState !== EventSource.CLOSED) return; // it comes back by itself
        stop();
        again = setTimeout(listen, 15000);
      });
    };
    pause.addEventListener("click", async (event) => {
      event.preventDefault();
      const goesOn = live.dataset.state === "paused";
      stop();
      stand(goesOn ? "beginning" : "paused", goesOn ? live.dataset.beginning : live.dataset.paused);
      put(pause, goesOn ? pause.dataset.pause : pause.dataset.goOn);
      pause.value = goesOn ? "off" : "on";
      listen();
      const choice = new URLSearchParams({ live: goesOn ? "on" : "off" });
      try { await fetch("/look", { method: "POST", body: choice, redirect: "manual" }); } catch { /* for this page only */ }
    });
    // A browser opens few connections to one host: a tab that nobody looks at gives its own back.
    document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); else listen(); });
    window.addEventListener("pagehide", stop);
    window.addEventListener("pageshow", listen);
    listen();
  }
})();
