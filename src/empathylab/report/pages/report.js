"use strict";
// Charts: drawn again when the reader switches between light and dark.
const specs = document.getElementById("specs");
if (specs) {
  const parsed = JSON.parse(specs.textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const draw = () => {
    const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const ink = read("--ink"), line = read("--line"), quiet = read("--quiet");
    // Okabe and Ito's colours: people with any kind of colour vision can tell them apart.
    const category = dark.matches
      ? ["#56B4E9", "#E69F00", "#2FC79A", "#E39CC4", "#F0E442", "#FF8A4C", "#BBBBBB"]
      : ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B87A00", "#56B4E9", "#777777"];
    const font = getComputedStyle(document.body).fontFamily;
    const config = {
      background: "transparent",
      range: { category },
      font,
      view: { stroke: null },
      axis: { labelColor: ink, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line,
              labelFontSize: 13, titleFontSize: 12, titleFontWeight: "normal" },
      header: { labelColor: ink, labelFontSize: 14 },
      legend: { labelColor: ink, titleColor: quiet, labelFontSize: 13, labelLimit: 400, symbolOpacity: 1,
                columns: window.innerWidth < 640 ? 1 : 3 },
    };
    for (const place of document.querySelectorAll(".chart")) {
      vegaEmbed(place, parsed[Number(place.dataset.chart)], {
        config, renderer: "svg",
        actions: { export: true, source: false, compiled: false, editor: false },
        tooltip: { theme: dark.matches ? "dark" : "light" },
      }).then(() => {
        // The picture is named as a whole, and its numbers stand in a table.
        const picture = place.querySelector("svg.marks");
        for (const part of picture.querySelectorAll("[role], [aria-label]")) {
          for (const name of ["role", "aria-roledescription", "aria-label"]) part.removeAttribute(name);
        }
        picture.setAttribute("role", "img");
        picture.setAttribute("aria-label", place.dataset.label);
        place.querySelector("summary")?.setAttribute("aria-label", "Save this chart");
        place.dataset.drawn = "yes";
      });
    }
  };
  draw();
  dark.addEventListener("change", draw);
}

// Replies: chosen by emotion, respondent and words; without this script all of them are shown.
const filters = document.querySelector(".filters");
if (filters) {
  filters.hidden = false;
  const articles = [...document.querySelectorAll(".situation")];
  const contents = articles.map((article) => article.textContent.toLowerCase());
  const choose = () => {
    const group = filters.elements.group.value;
    const respondent = filters.elements.respondent?.value;
    const words = filters.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    articles.forEach((article, index) => {
      const fits = (!group || article.dataset.group === group) &&
        words.every((word) => contents[index].includes(word));
      let replies = 0;
      for (const reply of article.querySelectorAll(".reply")) {
        reply.hidden = Boolean(respondent) && reply.dataset.respondent !== respondent;
        replies += reply.hidden ? 0 : 1;
      }
      article.hidden = !fits || replies === 0;
      shown += article.hidden ? 0 : 1;
    });
    filters.querySelector("output").textContent = `${shown} of ${articles.length} situations`;
  };
  filters.addEventListener("input", choose);
  filters.addEventListener("submit", (event) => event.preventDefault());
  choose();
}
