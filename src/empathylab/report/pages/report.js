"use strict";
// Charts. Each is drawn from its specification, which holds its numbers once: the table behind it
// and the files to save are made from there. All text goes in as text, never as markup.
const charts = (() => {
  const LIGHT = { ink: "#1f2328", quiet: "#59616b", line: "#e2dfd9" };
  // Okabe and Ito's colours: people with any kind of colour vision can tell them apart.
  const ON_LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B87A00", "#56B4E9", "#777777"];
  const ON_DARK = ["#56B4E9", "#E69F00", "#2FC79A", "#E39CC4", "#F0E442", "#FF8A4C", "#BBBBBB"];
  const WHO = ["arm", "respondent"];
  const MOST_SWITCHES = 24;

  const element = (name, attributes = {}, text = "") => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  };

  const units = (spec) => (spec.layer ? spec.layer.flatMap(units) : [spec]);
  const valuesOf = (unit, spec) => {
    const data = unit.data ?? spec.data ?? {};
    return data.values ?? spec.datasets?.[data.name] ?? [];
  };
  // The layer that shows the numbers: the one with most rows among those that name them.
  const shownUnit = (spec) => {
    const named = units(spec).filter((unit) => Array.isArray(unit.encoding?.tooltip));
    const all = named.length ? named : units(spec);
    return all.reduce((a, b) => (valuesOf(b, spec).length > valuesOf(a, spec).length ? b : a));
  };
  const columnsOf = (spec) => {
    const unit = shownUnit(spec);
    const rows = valuesOf(unit, spec);
    const named = (unit.encoding?.tooltip ?? []).filter((one) => one.field && !one.aggregate && !one.bin);
    const columns = named.length ? named : Object.keys(rows[0] ?? {}).map((field) => ({ field }));
    return { rows, columns: columns.map((one) => ({ ...one, title: one.title ?? one.field })) };
  };
  const digitsOf = (format) => Number(/\.(\d)/.exec(format)?.[1] ?? 0);
  const shown = (value, format) => {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (format?.includes("%")) return `${(100 * value).toFixed(digitsOf(format))}%`;
    const text = format?.endsWith("f") ? value.toFixed(digitsOf(format))
      : Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(4)));
    return text.replace("-", "−");
  };

  // A file's text that a spreadsheet would run as a formula gets an apostrophe in front.
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    const text = typeof value === "string" && /^[=+\-@\t\n＝＋－＠]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csvOf = (spec) => {
    const { rows, columns } = columnsOf(spec);
    const lines = rows.map((row) => columns.map((one) => cell(row[one.field])));
    return [columns.map((one) => cell(one.title)), ...lines].map((line) => `${line.join(",")}\n`).join("");
  };
  const tableOf = (spec, label) => {
    const { rows, columns } = columnsOf(spec);
    const table = element("table");
    table.append(element("caption", {}, label));
    const head = table.createTHead().insertRow();
    for (const one of columns) {
      head.append(element("th", { scope: "col", class: one.type === "quantitative" ? "n" : "" }, String(one.title)));
    }
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      columns.forEach((one, place) => {
        const number = typeof row[one.field] === "number";
        const made = element(place ? "td" : "th", place ? { class: number ? "n" : "", dir: "auto" } : { scope: "row", dir: "auto" });
        made.textContent = shown(row[one.field], one.format);
        line.append(made);
      });
    }
    const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label });
    scroll.append(table);
    return scroll;
  };

  const save = (name, ending, blob) => {
    const link = element("a", { download: `${name}.${ending}`, href: URL.createObjectURL(blob) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const fileName = (title) => title.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "chart";

  // Whom the reader can switch off: the arms, or the respondents.
  const whoOf = (spec) => {
    const unit = shownUnit(spec);
    const channels = ["color", "y", "x", "yOffset"].map((name) => unit.encoding?.[name]?.field);
    const field = channels.find((name) => WHO.includes(name));
    if (!field) return null;
    const present = new Set(valuesOf(unit, spec).map((row) => row[field]));
    if (present.size < 2 || present.size > MOST_SWITCHES) return null;
    // All names of the scale, also those without a value here, so that each keeps its colour.
    const names = unit.encoding.color?.field === field && unit.encoding.color.scale?.domain;
    const found = (names || [...present]).map((name, place) => ({ name, place })).filter((one) => present.has(one.name));
    return { field, names: found, coloured: unit.encoding.color?.field === field, range: unit.encoding.color?.scale?.range };
  };
  const switchable = (spec, who, hidden, legend) => {
    const made = structuredClone(spec);
    if (!who) return made;
    made.params = [...(made.params ?? []), { name: "hidden", value: hidden }];
    // What has no arm, a line at zero say, is never hidden.
    made.transform = [{ filter: `indexof(hidden, datum[${JSON.stringify(who.field)}]) < 0` }, ...(made.transform ?? [])];
    if (who.coloured && !legend) {
      for (const unit of units(made)) {
        if (unit.encoding?.color?.field === who.field) unit.encoding.color.legend = null;
      }
    }
    return made;
  };

  // As many names in a row of the legend as fit.
  const legendFitted = (spec, width) => {
    for (const { encoding } of units(spec)) {
      const names = encoding?.color?.type === "quantitative" ? null : encoding?.color?.scale?.domain;
      if (!Array.isArray(names) || !encoding.color.legend) continue;
      const widest = 7.5 * Math.max(...names.map((name) => String(name).length)) + 34;
      encoding.color.legend = { ...encoding.color.legend, columns: Math.max(1, Math.floor(width / widest)) };
    }
  };
  // A table of colours with many columns is scrolled rather than squeezed.
  const isMatrix = (spec) => units(spec).some((unit) => {
    const x = unit.encoding?.x;
    if ((unit.mark?.type ?? unit.mark) !== "rect" || !x || x.type === "quantitative") return false;
    return new Set(valuesOf(unit, spec).map((row) => row[x.field])).size > 4;
  });
  const lines = (title, most) => title.split(" ").reduce((made, word) => {
    const last = made.at(-1);
    return last && last.length + word.length < most ? [...made.slice(0, -1), `${last} ${word}`] : [...made, word];
  }, []);
  // On a phone, names beside a chart leave it most of the room, and a long title takes two lines.
  const narrowed = (spec, width) => {
    const small = width < 640;
    const most = Math.max(70, Math.round((small ? 0.36 : 0.45) * width));
    for (const unit of units(spec)) {
      const { x, y } = unit.encoding ?? {};
      if (y && y.type !== "quantitative" && y.axis !== null) {
        y.axis = { ...y.axis, labelLimit: Math.min(y.axis?.labelLimit ?? 180, most) };
      }
      if (!small || !x) continue;
      for (const part of [x, x.axis]) {
        if (typeof part?.title === "string") part.title = lines(part.title, Math.floor(width / 11));
      }
      if (x.type === "quantitative" && x.axis) delete x.axis.tickCount;
    }
  };

  const look = (colours, category, background, font) => ({
    background, font,
    range: { category },
    view: { stroke: null },
    axis: { labelColor: colours.ink, titleColor: colours.quiet, gridColor: colours.line, domainColor: colours.line,
            tickColor: colours.line, labelFontSize: 13, titleFontSize: 12, titleFontWeight: "normal" },
    // As many numbers as there is room for, each below its line.
    axisXQuantitative: { labelFlush: false, tickCount: { expr: "clamp(floor(width / 50), 3, 10)" } },
    header: { labelColor: colours.ink, labelFontSize: 14 },
    legend: { labelColor: colours.ink, titleColor: colours.quiet, labelFontSize: 13, labelLimit: 400, symbolOpacity: 1 },
  });

  // A picture to take away is drawn anew: light, with its legend, of one width on every screen.
  const drawnAlone = async (spec, who, hidden) => {
    const made = switchable(spec, who, hidden, true);
    if (made.width === "container") made.width = 640;
    legendFitted(made, 640);
    const place = element("div");
    const config = look(LIGHT, ON_LIGHT, "#ffffff", getComputedStyle(document.body).fontFamily);
    const { view, finalize } = await vegaEmbed(place, made, { config, renderer: "svg", actions: false });
    return { view, finalize };
  };

  const start = (specs) => {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const places = [...document.querySelectorAll(".chart")];
    const states = new Map(places.map((place) => {
      const spec = specs[Number(place.dataset.chart)];
      return [place, { spec, who: whoOf(spec), hidden: [], view: null }];
    }));
    const category = () => (dark.matches ? ON_DARK : ON_LIGHT);

    const draw = async (place) => {
      const state = states.get(place);
      const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const colours = { ink: read("--ink"), line: read("--line"), quiet: read("--quiet") };
      const config = look(colours, category(), "transparent", getComputedStyle(document.body).fontFamily);
      const made = switchable(state.spec, state.who, state.hidden, false);
      place.classList.toggle("matrix", isMatrix(made));
      narrowed(made, place.clientWidth);
      legendFitted(made, 0.68 * place.clientWidth);
      const { view } = await vegaEmbed(place, made, {
        config, renderer: "svg", actions: false, tooltip: { theme: dark.matches ? "dark" : "light" },
      });
      state.view = view;
      // The picture is named as a whole, and its numbers stand in a table.
      const picture = place.querySelector("svg.marks");
      for (const part of picture.querySelectorAll("[role], [aria-label]")) {
        for (const name of ["role", "aria-roledescription", "aria-label"]) part.removeAttribute(name);
      }
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", place.dataset.label);
      place.dataset.drawn = "yes";
    };

    const switches = (place) => {
      const state = states.get(place);
      const group = element("div", { class: "switches", role: "group", "aria-label": "Shown in the chart" });
      state.who.names.forEach(({ name, place: index }) => {
        const button = element("button", { type: "button", "aria-pressed": "true" });
        if (state.who.coloured) {
          const swatch = element("span", { class: "swatch" });
          swatch.dataset.place = index;
          button.append(swatch);
        }
        button.append(element("bdi", {}, String(name)));
        button.addEventListener("click", async () => {
          const on = state.hidden.includes(name);
          state.hidden = on ? state.hidden.filter((one) => one !== name) : [...state.hidden, name];
          button.setAttribute("aria-pressed", String(on));
          await state.view.signal("hidden", state.hidden).runAsync();
        });
        group.append(button);
      });
      return group;
    };
    const paint = () => {
      for (const [place, state] of states) {
        const colours = state.who?.range ?? category();
        for (const swatch of place.closest("figure").querySelectorAll(".swatch")) {
          swatch.style.background = colours[Number(swatch.dataset.place) % colours.length];
        }
      }
    };

    const tools = (place) => {
      const state = states.get(place);
      const title = place.closest("figure").querySelector("figcaption").textContent.trim();
      const bar = element("div", { class: "tools" });
      const add = (text, label, act) => {
        const button = element("button", { type: "button", "aria-label": label }, text);
        button.addEventListener("click", act);
        bar.append(button);
        return button;
      };
      const numbers = add("Numbers", `Numbers of the chart: ${title}`, () => {
        const open = numbers.getAttribute("aria-expanded") === "true";
        numbers.setAttribute("aria-expanded", String(!open));
        if (open) return bar.nextElementSibling.remove();
        return bar.after(tableOf(state.spec, title));
      });
      numbers.setAttribute("aria-expanded", "false");
      add("SVG", `Save as SVG: ${title}`, async () => {
        const { view, finalize } = await drawnAlone(state.spec, state.who, state.hidden);
        save(fileName(title), "svg", new Blob([await view.toSVG()], { type: "image/svg+xml" }));
        finalize();
      });
      add("PNG", `Save as PNG: ${title}`, async () => {
        const { view, finalize } = await drawnAlone(state.spec, state.who, state.hidden);
        const canvas = await view.toCanvas(3);
        canvas.toBlob((blob) => save(fileName(title), "png", blob), "image/png");
        finalize();
      });
      add("CSV", `Save the numbers as CSV: ${title}`, () => {
        save(fileName(title), "csv", new Blob([csvOf(state.spec)], { type: "text/csv" }));
      });
      return bar;
    };

    for (const [place, state] of states) {
      if (state.who) place.before(switches(place));
      place.after(tools(place));
    }
    paint();
    const drawAll = () => Promise.all(places.map(draw));
    dark.addEventListener("change", () => { paint(); drawAll(); });
    return drawAll();
  };
  return { start };
})();

// Tables: the rows of each as a file, as they are read.
const tables = () => {
  const cell = (text) => {
    const safe = /^[=+@\t＝＋－＠]/.test(text) && !/^[+\-−]?[\d.,]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  for (const table of document.querySelectorAll("main .scroll > table")) {
    const label = table.parentElement.getAttribute("aria-label") ?? "table";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "CSV";
    button.setAttribute("aria-label", `Save as CSV: ${label}`);
    button.addEventListener("click", () => {
      const lines = [...table.rows].map((row) => [...row.cells].map((one) => cell(one.textContent.trim().replace(/\s+/g, " "))).join(","));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
      link.download = `${label.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "table"}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    table.parentElement.after(button);
  }
};
tables();
const specs = document.getElementById("specs");
if (specs) charts.start(JSON.parse(specs.textContent));
