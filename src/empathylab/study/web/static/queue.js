// Looks for new messages; what is being typed is never lost. The page works without it.
"use strict";
(() => {
  const { version, news } = document.body.dataset;
  const note = document.getElementById("news");
  const look = async () => {
    try {
      const answer = await fetch(news);
      if (answer.ok && (await answer.json()).version !== version) {
        const typing = [...document.querySelectorAll("textarea")].some((one) => one.value.trim());
        if (!typing) return location.assign(location.pathname);
        note.hidden = false;
      }
    } catch {
      // The server is away for a moment.
    }
    setTimeout(look, 2500);
  };
  setTimeout(look, 2500);
})();
