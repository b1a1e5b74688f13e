// Counts pastes and the rhythm of typing where the study declares it. No key and no text is kept.
"use strict";
(() => {
  const form = document.querySelector("form[data-least]");
  if (!form) return;
  const LONGEST_PAUSE = 5000;
  const counts = { pastes: 0, pasted: 0, keys: 0 };
  let last = null;
  let intervals = 0;
  let mean = 0;
  let squares = 0;

  const bring = (data) => {
    counts.pastes += 1;
    counts.pasted += data ? data.getData("text").length : 0;
  };
  form.addEventListener("paste", (event) => bring(event.clipboardData));
  form.addEventListener("drop", (event) => bring(event.dataTransfer));
  form.addEventListener("keydown", (event) => {
    if (event.repeat || !event.target.matches("textarea, input[type=text], input[inputmode]")) return;
    const now = performance.now();
    counts.keys += 1;
    if (last !== null && now - last < LONGEST_PAUSE) {
      intervals += 1;
      const step = now - last - mean;
      mean += step / intervals;
      squares += step * (now - last - mean);
    }
    last = now;
  });
  form.addEventListener("submit", () => {
    const told = { ...counts };
    if (intervals > 0) {
      told.interval = mean.toFixed(1);
      told.spread = Math.sqrt(squares / intervals).toFixed(1);
    }
    for (const [name, value] of Object.entries(told)) {
      const field = form.querySelector(`input[name="signal-${name}"]`) ?? document.createElement("input");
      field.type = "hidden";
      field.name = `signal-${name}`;
      field.value = value;
      form.append(field);
    }
  });
})();
