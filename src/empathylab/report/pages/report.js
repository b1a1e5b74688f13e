"use strict";
// Tables: the rows of each as a file, as they are read.
const tables = () => {
  const MOST_ROWS = 15;
  const cell = (text) => {
    const safe = /^[=+@\t＝＋－＠]/.test(text) && !/^[+\-−]?[\d.,]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  for (const table of document.querySelectorAll("main .scroll > table")) {
    const label = table.parentElement.getAttribute("aria-label") ?? "table";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "CSV";
    button.setAttribute("aria-label", `Save as CSV: ${label}`);
    button.addEventListener("click", () => {
      const lines = [...table.rows].map((row) => [...row.cells].map((one) => cell(one.textContent.trim().replace(/\s+/g, " "))).join(","));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
      link.download = `${label.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "table"}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    table.parentElement.after(button);
    // A long table shows its first rows until the reader asks for all.
    const rows = table.tBodies[0]?.rows.length ?? 0;
    if (rows > MOST_ROWS + 5) {
      table.classList.add("short");
      const all = document.createElement("button");
      all.type = "button";
      all.className = "save all-rows";
      all.textContent = `Show all ${rows.toLocaleString("en")} rows`;
      all.addEventListener("click", () => { table.classList.remove("short"); all.remove(); cue(table.parentElement); });
      table.parentElement.after(all);
    }
    cue(table.parentElement);
    table.parentElement.addEventListener("scroll", () => cue(table.parentElement), { passive: true });
  }
};
// A table wider than its frame says so, until its end is in view.
const cue = (frame) => {
  const beyond = frame.scrollWidth - frame.clientWidth - frame.scrollLeft;
  frame.parentElement.classList.toggle("wider", frame.scrollWidth > frame.clientWidth + 2);
  frame.parentElement.classList.toggle("ended", beyond < 4);
};
const cues = () => document.querySelectorAll("main .scroll").forEach(cue);
window.addEventListener("resize", cues);
document.addEventListener("toggle", cues, true);

// Contents: a menu on phones, the section in view marked.
const contents = () => {
  const nav = document.querySelector(".contents");
  if (!nav) return;
  document.documentElement.classList.add("scripted");
  const button = nav.querySelector(".menu");
  const show = (open) => button.setAttribute("aria-expanded", String(open));
  button.addEventListener("click", () => show(button.getAttribute("aria-expanded") !== "true"));
  nav.addEventListener("click", (event) => { if (event.target.closest("a")) show(false); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && button.getAttribute("aria-expanded") === "true") { show(false); button.focus(); }
  });
  const links = new Map([...nav.querySelectorAll("li a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link, id) => link.toggleAttribute("aria-current", id === entry.target.id));
    }
  }, { rootMargin: "-15% 0px -80% 0px" });
  document.querySelectorAll("main > section").forEach((section) => seen.observe(section));
};

// A link to something in a closed part opens the part.
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let part = target.closest("details"); part; part = part.parentElement?.closest("details")) part.open = true;
  target.scrollIntoView();
};
window.addEventListener("hashchange", reveal);
document.addEventListener("click", (event) => {
  // The same link again opens what was closed in between.
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) reveal();
});

// Print shows what matters, and closes again what it opened.
let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details[data-print]:not([open])")];
  opened.forEach((part) => { part.open = true; });
});
window.addEventListener("afterprint", () => opened.forEach((part) => { part.open = false; }));

tables();
contents();
reveal();
const specs = document.getElementById("specs");
if (specs) charts.start(JSON.parse(specs.textContent));
