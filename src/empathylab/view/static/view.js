// Renews the parts of a page that change while a run is going on, and sends filters when chosen.
"use strict";

for (const form of document.querySelectorAll("form.filters")) {
  for (const select of form.querySelectorAll("select")) {
    if (!form.querySelector("select[name=first]")) select.addEventListener("change", () => form.requestSubmit());
  }
  // Empty fields stay out of the address.
  form.addEventListener("submit", () => {
    for (const field of form.querySelectorAll("select, input")) if (!field.value) field.disabled = true;
    setTimeout(() => { for (const field of form.elements) field.disabled = false; }, 0);
  });
}

// After "Back" browsers keep what was chosen last; the list shows what its address says.
window.addEventListener("pageshow", (event) => {
  const [visit] = performance.getEntriesByType("navigation");
  if (event.persisted || visit?.type === "back_forward") for (const form of document.querySelectorAll("form.filters")) form.reset();
});

async function renew(seconds) {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-part]")) {
        const newer = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
        if (newer && newer.innerHTML !== part.innerHTML && !part.contains(document.activeElement)) part.innerHTML = newer.innerHTML;
      }
      if (!fresh.body.dataset.live) {
        document.querySelector(".livemark")?.remove();
        return;
      }
    }
  } catch { /* The viewer was stopped: the page stays as it is. */ }
  setTimeout(renew, 1000 * seconds, seconds);
}

document.querySelector(".side nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

const live = Number(document.body.dataset.live);
if (live) setTimeout(renew, 1000 * live, live);
