"use strict";
// Charts: drawn again when the reader switches between light and dark.
const specs = document.getElementById("specs");
if (specs) {
  const parsed = JSON.parse(specs.textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const draw = () => {
    const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const ink = read("--ink"), line = read("--line"), quiet = read("--quiet");
    const font = getComputedStyle(document.body).fontFamily;
    const config = {
      background: "transparent",
      font,
      view: { stroke: null },
      axis: { labelColor: ink, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line,
              labelFontSize: 13, titleFontSize: 12, titleFontWeight: "normal" },
      legend: { labelColor: ink, labelFontSize: 13, labelLimit: 400 },
    };
    for (const place of document.querySelectorAll(".chart")) {
      vegaEmbed(place, parsed[Number(place.dataset.chart)], {
        config, renderer: "svg",
        actions: { export: true, source: false, compiled: false, editor: false },
        tooltip: { theme: dark.matches ? "dark" : "light" },
      }).then(() => { place.dataset.drawn = "yes"; });
    }
  };
  draw();
  dark.addEventListener("change", draw);
}

// Replies: chosen by emotion and by words; without this script all of them are shown.
const filters = document.querySelector(".filters");
if (filters) {
  filters.hidden = false;
  const articles = [...document.querySelectorAll(".situation")];
  const contents = articles.map((article) => article.textContent.toLowerCase());
  const choose = () => {
    const emotion = filters.elements.emotion.value;
    const words = filters.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    articles.forEach((article, index) => {
      const fits = (!emotion || article.dataset.emotion === emotion) &&
        words.every((word) => contents[index].includes(word));
      article.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    filters.querySelector("output").textContent = `${shown} of ${articles.length} situations`;
  };
  filters.addEventListener("input", choose);
  filters.addEventListener("submit", (event) => event.preventDefault());
  choose();
}
