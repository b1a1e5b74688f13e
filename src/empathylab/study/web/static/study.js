// Comfort only: keys, drafts, and the time on the page. Every page works without it.
"use strict";
(() => {
  const form = document.querySelector("form[data-least]");
  const errors = document.getElementById("errors");
  if (errors) errors.focus();
  if (!form) return;

  const button = form.querySelector("button.main");
  const trouble = document.getElementById("trouble");
  const radios = "fieldset.ask[role=radiogroup], .compact [role=radiogroup]";
  const groups = [...form.querySelectorAll(radios)];
  const began = performance.now();
  let away = 0;
  let losses = 0;
  let left = null;
  let sent = false;

  // The time on the page, and how long and how often it was out of sight.
  const lose = () => {
    if (left !== null) return;
    left = performance.now();
    losses += 1;
  };
  const regain = () => {
    if (left === null) return;
    away += performance.now() - left;
    left = null;
  };
  window.addEventListener("blur", lose);
  window.addEventListener("focus", regain);
  document.addEventListener("visibilitychange", () => (document.hidden ? lose() : regain()));

  const tell = (name, value) => {
    let field = form.querySelector(`input[name="timing-${name}"]`);
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = `timing-${name}`;
      form.append(field);
    }
    field.value = value;
  };
  const tellTimes = () => {
    const now = performance.now();
    tell("seconds", ((now - began) / 1000).toFixed(2));
    tell("away", ((away + (left === null ? 0 : now - left)) / 1000).toFixed(2));
    tell("losses", String(losses));
  };

  // A page with a least time: the button says how long it still is.
  const words = button.textContent;
  const least = Number(form.dataset.least) * 1000;
  const remaining = () => Math.ceil((least - (performance.now() - began)) / 1000);
  const holdBack = () => {
    const seconds = remaining();
    button.setAttribute("aria-disabled", seconds > 0 ? "true" : "false");
    button.textContent = seconds > 0 ? form.dataset.wait.replace("{seconds}", seconds) : words;
    if (seconds > 0) setTimeout(holdBack, 250);
  };
  if (least > 0) holdBack();

  form.addEventListener("submit", (event) => {
    if (sent || remaining() > 0) {
      event.preventDefault();
      return;
    }
    if (!navigator.onLine) {
      event.preventDefault();
      trouble.textContent = form.dataset.offline;
      trouble.hidden = false;
      return;
    }
    sent = true;
    tellTimes();
    button.setAttribute("aria-disabled", "true");
  });
  window.addEventListener("pageshow", () => {
    sent = false;
    if (remaining() <= 0) button.removeAttribute("aria-disabled");
  });

  // Unfinished pages are kept, so that nothing is lost when the browser closes.
  let waiting = null;
  let changed = false;
  const keepDraft = () => {
    clearTimeout(waiting);
    if (!changed || sent) return Promise.resolve();
    changed = false;
    const body = new URLSearchParams(new FormData(form));
    return fetch(form.action.replace(/page$/, "draft"), { method: "POST", body, keepalive: true }).catch(() => {
      changed = true;
    });
  };
  if (form.dataset.drafts === "yes") {
    form.addEventListener("input", () => {
      changed = true;
      clearTimeout(waiting);
      waiting = setTimeout(keepDraft, 1500);
    });
    document.addEventListener("visibilitychange", () => document.hidden && keepDraft());
  }
  // The page in the other language shows the draft, so it must be stored first.
  const languages = document.querySelector(".languages form");
  let switching = false;
  if (languages) {
    languages.addEventListener("submit", (event) => {
      if (!changed || switching) return;
      event.preventDefault();
      switching = true;
      keepDraft().finally(() => languages.requestSubmit(event.submitter));
    });
  }

  // A slider beside the field of a number: it has no mark before someone has set one.
  for (const box of form.querySelectorAll(".slider")) {
    const field = box.querySelector("input");
    const range = document.createElement("input");
    range.type = "range";
    range.min = box.dataset.least;
    range.max = box.dataset.most;
    range.step = box.dataset.step;
    range.setAttribute("aria-labelledby", `${field.id}-label`);
    range.setAttribute("aria-describedby", `${field.id}-ends`);
    const rtl = getComputedStyle(box).direction === "rtl";
    if (box.dataset.turned) range.dir = rtl ? "ltr" : "rtl";
    const show = () => {
      const set = field.value.trim() !== "" && !Number.isNaN(Number(field.value));
      if (set) range.value = field.value;
      box.classList.toggle("unset", !set);
      range.setAttribute("aria-valuetext", set ? range.value : "–");
    };
    const take = () => {
      field.value = range.value;
      show();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    range.addEventListener("input", take);
    range.addEventListener("click", take);
    range.addEventListener("keydown", (event) => {
      if (event.key === " ") take();
    });
    field.addEventListener("input", show);
    box.querySelector(".value").prepend(range);
    box.classList.add("live");
    show();
  }

  // A place that is given a second time is taken from the entry that had it.
  for (const group of form.querySelectorAll("fieldset[data-kind=ranking]")) {
    const places = [...group.querySelectorAll("select")];
    const held = new Map(places.map((one) => [one, one.value]));
    group.addEventListener("change", (event) => {
      const other = places.find((one) => one !== event.target && one.value && one.value === event.target.value);
      if (other) other.value = held.get(event.target);
      places.forEach((one) => held.set(one, one.value));
    });
  }

  // Digits choose an option of the question at hand, unless they are turned off.
  const marked = [...form.querySelectorAll("fieldset.ask input[data-key]")];
  let digits = false;
  const offerDigits = () => {
    const hint = form.querySelector(".keys");
    const text = hint.querySelector("span");
    const toggle = hint.querySelector("button");
    const show = () => {
      document.body.classList.toggle("with-keys", digits);
      text.hidden = !digits;
      toggle.textContent = digits ? toggle.dataset.off : toggle.dataset.on;
    };
    try {
      digits = localStorage.getItem("keys") !== "off";
    } catch {
      digits = true;
    }
    const keys = marked.map((one) => Number(one.dataset.key));
    const first = Math.min(...keys);
    const last = Math.max(...keys);
    text.textContent = (last - first === 1 ? text.dataset.two : text.dataset.text)
      .replace("{first}", first)
      .replace("{last}", last);
    toggle.addEventListener("click", () => {
      digits = !digits;
      try {
        localStorage.setItem("keys", digits ? "on" : "off");
      } catch {
        // A browser that keeps nothing asks again on the next page.
      }
      show();
    });
    show();
    hint.hidden = false;
  };
  if (marked.length && matchMedia("(pointer: fine)").matches) offerDigits();

  const unanswered = () => groups.find((one) => !one.querySelector("input:checked"));
  const choose = (key) => {
    const group = document.activeElement.closest(radios) || unanswered() || groups.at(-1);
    const option = group && group.querySelector(`input[data-key="${CSS.escape(key)}"]`);
    if (!option) return false;
    option.checked = true;
    option.focus();
    option.dispatchEvent(new Event("input", { bubbles: true }));
    const next = unanswered();
    if (next && next !== group) {
      next.querySelector("input").focus();
      next.scrollIntoView({ block: "nearest" });
    }
    return true;
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("textarea, select, input[type=text], input[type=range], button, a, summary");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      if (!event.repeat) form.requestSubmit(button);
    } else if (digits && choose(event.key)) {
      event.preventDefault();
    }
  });
})();
