// Loads the preview again when the file is saved, and keeps both frames on one page.
"use strict";
(() => {
  const { root, version } = document.body.dataset;
  const check = async () => {
    try {
      const answer = await fetch(`${root}/version`, { cache: "no-store" });
      if (answer.ok && (await answer.json()).version !== version) location.reload();
    } catch {
      // The command was stopped; it may be started again.
    }
  };
  setInterval(check, 700);

  const form = document.querySelector("form");
  if (!form) return;
  form.querySelector("button[type=submit]").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
  const pages = form.elements.step;
  for (const button of form.querySelectorAll("button[data-move]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const place = pages.selectedIndex + Number(button.dataset.move);
      pages.selectedIndex = Math.min(Math.max(place, 0), pages.length - 1);
      form.requestSubmit();
    });
  }

  // A participant's button in one frame moves the other frame and the list, too.
  const frames = [...document.querySelectorAll("iframe")];
  const address = (frame) => frame.contentWindow.location.pathname + frame.contentWindow.location.search;
  for (const frame of frames) {
    frame.addEventListener("load", () => {
      const here = address(frame);
      const step = new URLSearchParams(frame.contentWindow.location.search).get("step");
      const language = frame.contentWindow.location.pathname.split("/").at(-2);
      if (!step) {
        const moved = `${here.split("?")[0]}?step=${encodeURIComponent(pages.value)}`;
        if (here.split("?")[0].endsWith("/page")) frame.contentWindow.location.replace(moved);
        return;
      }
      pages.value = step;
      form.elements.language.value = language;
      history.replaceState(null, "", `?${new URLSearchParams(new FormData(form))}`);
      for (const other of frames) {
        if (other !== frame && address(other) !== here) other.contentWindow.location.replace(here);
      }
    });
  }
})();
