// Looks for a reply that is on its way, and shows the page again when there is one.
"use strict";
(() => {
  // A conversation is read from its latest turn.
  const latest = document.getElementById("latest");
  if (latest && !document.getElementById("errors")) {
    latest.focus({ preventScroll: true });
    latest.scrollIntoView({ block: "start" });
  }
  const live = document.getElementById("live");
  if (!live) return;
  const look = async () => {
    let seconds = 3;
    try {
      const answer = await fetch(live.dataset.address, { headers: { Accept: "application/json" } });
      if (answer.ok) {
        const state = await answer.json();
        if (state.shown !== Number(live.dataset.shown) || !state.waiting) {
          location.replace(live.dataset.address.replace(/live$/, "page"));
          return;
        }
        seconds = state.seconds;
      }
    } catch {
      // Offline for a moment.
    }
    setTimeout(look, 1000 * Math.min(5, Math.max(0.5, seconds)));
  };
  setTimeout(look, 1000 * Math.min(5, Math.max(0.5, Number(live.dataset.seconds))));
})();
