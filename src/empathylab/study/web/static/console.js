// Renews the numbers of the overview; everything else works without scripts.
"use strict";

const live = document.getElementById("live");
const box = document.querySelector(".refresh");

if (live && box) {
  const button = box.querySelector("button");
  const said = box.querySelector("[role=status]");
  let timer = null;

  const renew = async () => {
    if (document.hidden || live.contains(document.activeElement)) return;
    const open = [...live.querySelectorAll("details[open]")].map((one) => one.id);
    let answer;
    try {
      answer = await fetch(location.href, { headers: { "X-Refresh": "1" }, redirect: "error" });
    } catch {
      said.textContent = "No connection. The numbers may be old.";
      return;
    }
    if (answer.status === 401) {
      stop();
      said.textContent = "You are signed out. Load the page anew to sign in.";
      return;
    }
    const fresh = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
    if (!fresh) {
      said.textContent = "The numbers could not be renewed. They may be old.";
      return;
    }
    live.replaceChildren(...fresh.childNodes);
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
