// Local times, select all, and fresh figures on the overview; everything works without scripts.
"use strict";

// Times are written in UTC and shown in the viewer's time zone.
const two = (number) => String(number).padStart(2, "0");
const localTimes = (within) => {
  for (const time of within.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.title = `${time.textContent} UTC`;
    time.textContent = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
  }
};
localTimes(document);
const zone = document.querySelector(".zone");
if (zone) zone.textContent = zone.dataset.local.replace("{zone}", Intl.DateTimeFormat().resolvedOptions().timeZone);

// On a phone the navigation scrolls, and the page's own entry may lie beyond its edge.
document.querySelector("nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

const all = document.querySelector("input[data-all]");
if (all) {
  const picks = () => document.querySelectorAll("input[name^='pick-']");
  all.hidden = false;
  all.addEventListener("change", () => picks().forEach((pick) => (pick.checked = all.checked)));
}

const live = document.getElementById("live");
const box = document.querySelector(".refresh");

if (live && box) {
  const button = box.querySelector("button");
  const said = box.querySelector("[role=status]");
  let timer = null;

  const renew = async () => {
    if (document.hidden || live.contains(document.activeElement)) return;
    const open = [...live.querySelectorAll("details[open]")].map((details) => details.id);
    let answer;
    try {
      answer = await fetch(location.href, { headers: { "X-Refresh": "1" }, redirect: "error" });
    } catch {
      said.textContent = button.dataset.offline;
      return;
    }
    if (answer.status === 401) {
      stop();
      said.textContent = button.dataset.out;
      return;
    }
    const fresh = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
    if (!fresh) {
      said.textContent = button.dataset.old;
      return;
    }
    live.replaceChildren(...fresh.childNodes);
    localTimes(live);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    said.textContent = "";
  };

  const start = () => {
    timer = setInterval(renew, 1000 * Number(live.dataset.refresh));
    button.textContent = button.dataset.stop;
  };

  const stop = () => {
    clearInterval(timer);
    timer = null;
    button.textContent = button.dataset.start;
  };

  button.addEventListener("click", () => (timer ? stop() : start()));
  box.hidden = false;
  start();
}
