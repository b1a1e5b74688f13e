"use strict";
// Search over an index that comes as a script, so that it works from a file, too.
const query = document.getElementById("query");
const results = document.getElementById("results");
const root = document.body.dataset.root || ".";
const MOST = 12;

document.documentElement.classList.add("js");
for (const table of document.querySelectorAll("main table")) {
  const box = document.createElement("div");
  box.className = "wide";
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Table");
  table.replaceWith(box);
  box.append(table);
}
for (const block of document.querySelectorAll("main pre")) block.tabIndex = 0;

const menu = document.getElementById("menu");
const pages = document.getElementById("pages");
menu.hidden = false;
menu.addEventListener("click", () => {
  menu.setAttribute("aria-expanded", String(pages.classList.toggle("open")));
});

const sections = (window.sections || []).map((one) => ({
  ...one,
  low: { page: one.page.toLowerCase(), heading: one.heading.toLowerCase(), text: one.text.toLowerCase() },
}));

function score(one, words) {
  let sum = 0;
  for (const word of words) {
    let here = 0;
    if (one.low.heading.includes(word)) here += 12;
    if (one.low.page.includes(word)) here += 4;
    if (one.low.text.includes(word)) here += 1 + Math.min(3, one.low.text.split(word).length - 1);
    if (!here) return 0;
    sum += here;
  }
  return sum;
}

function excerpt(one, words) {
  const at = Math.max(0, one.low.text.indexOf(words.find((word) => one.low.text.includes(word)) || ""));
  const from = Math.max(0, at - 50);
  return (from ? "…" : "") + one.text.slice(from, from + 160) + (one.text.length > from + 160 ? "…" : "");
}

function show() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  results.replaceChildren();
  results.hidden = words.length === 0;
  if (!words.length) return;
  const found = sections
    .map((one) => [score(one, words), one])
    .filter(([points]) => points)
    .sort((a, b) => b[0] - a[0])
    .slice(0, MOST);
  for (const [, one] of found) {
    const link = document.createElement("a");
    link.href = `${root}/${one.url}`;
    const title = document.createElement("strong");
    title.textContent = one.heading === one.page ? one.page : `${one.heading} · ${one.page}`;
    const text = document.createElement("span");
    text.textContent = excerpt(one, words);
    link.append(title, text);
    results.append(link);
  }
  if (!found.length) {
    const nothing = document.createElement("p");
    nothing.textContent = "Nothing found.";
    results.append(nothing);
  }
}

query.addEventListener("input", show);
query.addEventListener("focus", show);
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing) {
    event.preventDefault();
    query.focus();
  }
  if (event.key === "Escape") {
    results.hidden = true;
  }
  if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !results.hidden) {
    const links = [...results.querySelectorAll("a")];
    const step = event.key === "ArrowDown" ? 1 : -1;
    const next = links[links.indexOf(document.activeElement) + step];
    if (next) next.focus();
    else if (step < 0) query.focus();
    event.preventDefault();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("search")) results.hidden = true;
});
