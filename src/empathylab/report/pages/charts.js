"use strict";
// Charts. Each is drawn from its specification, which holds its numbers once: the table behind it
// and the files to save are made from there. All text goes in as text, never as markup.
const charts = (() => {
  const LIGHT = { ink: "#1f2328", quiet: "#59616b", line: "#e2dfd9" };
  // Specifications hold the colours of light pages; each has a counterpart on dark ones.
  const DARK = JSON.parse(document.getElementById("dark-colours")?.textContent ?? "{}");
  const WHO = ["arm", "respondent"];
  const MOST_SWITCHES = 24;

  const element = (name, attributes = {}, text = "") => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  };

  const units = (spec) => {
    const parts = spec.layer ?? spec.vconcat ?? spec.hconcat ?? (spec.spec ? [spec.spec] : null);
    return parts ? parts.flatMap(units) : [spec];
  };
  const DATA = ["data", "datasets", "transform"];
  const darkened = (value, name) => {
    if (DATA.includes(name)) return value;
    if (typeof value === "string") return DARK[value] ?? value;
    if (Array.isArray(value)) return value.map((part) => darkened(part));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, darkened(part, key)]));
  };
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
    // Where each has a row or a panel of its own, its name stands beside it.
    if (!field || [unit.encoding?.y, unit.encoding?.x, spec.facet].some((one) => one?.field === field)) return null;
    const present = new Set(valuesOf(unit, spec).map((row) => row[field]));
    if (present.size < 2 || present.size > MOST_SWITCHES) return null;
    // All names of the scale, also those without a value here, so that each keeps its colour.
    const names = unit.encoding.color?.field === field && unit.encoding.color.scale?.domain;
    const found = (names || [...present]).map((name, place) => ({ name, place })).filter((one) => present.has(one.name));
    const named = units(spec).some((one) => one.encoding?.text?.field === "name");
    return { field, names: found, named, coloured: unit.encoding.color?.field === field, range: unit.encoding.color?.scale?.range };
  };
  const switchable = (spec, who, hidden, legend) => {
    const made = structuredClone(spec);
    if (!who) return made;
    made.params = [...(made.params ?? []), { name: "hidden", value: hidden }];
    // What has no arm, a line at zero say, is never hidden.
    for (const unit of units(made)) {
      if (!valuesOf(unit, made).some((row) => who.field in row)) continue;
      unit.transform = [{ filter: `indexof(hidden, datum[${JSON.stringify(who.field)}]) < 0` }, ...(unit.transform ?? [])];
    }
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
  // Panels: as many beside each other as fit, each as wide as there is room for.
  const panelled = (spec, width) => {
    if (!spec.facet || !spec.spec?.width) return;
    const y = units(spec).map((unit) => unit.encoding?.y).find((one) => one && one.type !== "quantitative");
    const names = y ? valuesOf(units(spec)[0], spec).map((row) => String(row[y.field] ?? "")) : [];
    const side = y ? Math.min(0.36 * width, 8 + 7.2 * Math.max(0, ...names.map((name) => name.length))) : 50;
    const own = spec.resolve?.scale?.y === "independent";
    const headings = valuesOf(units(spec)[0], spec).map((row) => 7.5 * String(row[spec.facet.field] ?? "").length);
    const room = (columns) => Math.floor((width - (own ? columns : 1) * side - 54) / columns) - 24;
    // A panel has room for its name and for its numbers.
    let columns = spec.columns ?? 1;
    while (columns > 1 && (room(columns) < 150 || room(columns) + 24 < Math.max(...headings))) columns -= 1;
    // Three panels stand in a row or below each other: two and one would leave an empty axis.
    const panels = new Set(valuesOf(units(spec)[0], spec).map((row) => row[spec.facet.field])).size;
    if (panels === 3 && columns === 2) columns = 1;
    spec.columns = columns;
    spec.spacing = { row: 30, column: 42 };
    spec.spec.width = Math.max(90, room(columns));
    const letters = Math.floor(spec.spec.width / 7.5);
    const titles = [...new Set(valuesOf(units(spec)[0], spec).map((row) => String(row[spec.facet.field] ?? "")))].filter((title) => title.length > letters);
    const found = `indexof(${JSON.stringify(titles)}, datum.value)`;
    spec.facet.header = { ...spec.facet.header, labelLimit: spec.spec.width + side / 2, labelAnchor: "start", labelLineHeight: 16 };
    if (titles.length) spec.facet.header.labelExpr = `${found} < 0 ? datum.value : ${JSON.stringify(titles.map((title) => lines(title, letters)))}[${found}]`;
  };
  // A table of colours with many columns is scrolled rather than squeezed.
  const isMatrix = (spec, width) => units(spec).some((unit) => {
    const x = unit.encoding?.x;
    if ((unit.mark?.type ?? unit.mark) !== "rect" || !x || x.type === "quantitative") return false;
    const columns = new Set(valuesOf(unit, spec).map((row) => row[x.field])).size;
    return columns > 4 && 26 * columns > 0.5 * width;
  });
  // Broken at spaces, and after the signs that join the parts of names.
  const lines = (title, most, breaks = /(?<=[ _/-])/) => title.split(breaks).reduce((made, word) => {
    const last = made.at(-1);
    return last && (last + word).trimEnd().length <= most ? [...made.slice(0, -1), last + word] : [...made, word];
  }, []).map((line) => line.trimEnd());
  // Cut as near to the middle as names stay different; of very many names simply in the middle.
  const cutInMiddle = (text, most, names) => {
    const kept = most - 1;
    const middle = Math.ceil(kept / 2);
    const cut = (name, start) => `${[...name].slice(0, start).join("")}…${[...name].slice(start - kept).join("")}`;
    if ([...text].length <= most) return text;
    const others = names.length > 40 ? [] : names.filter((name) => name !== text);
    const starts = Array.from({ length: Math.max(0, kept - 1) }, (_, place) => place + 1).sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    return cut(text, starts.find((start) => others.every((name) => cut(name, start) !== cut(text, start))) ?? middle);
  };
  // On a phone, names beside a chart leave it most of the room, and a long title takes two lines.
  const narrowed = (spec, width) => {
    const small = width < 640;
    const phone = width < 420;
    // The layers of a chart share an axis, so all get the same.
    const coloured = units(spec).some((unit) => (unit.mark?.type ?? unit.mark) === "rect");
    const most = Math.max(70, Math.round((phone && !coloured ? 0.36 : 0.45) * width));
    const longest = (field) => Math.max(0, ...units(spec).flatMap((unit) =>
      valuesOf(unit, spec).map((row) => String(row[field] ?? "").length)));
    // Tall rows have room for names of several lines. Layers name their rows by fields of their own.
    const rows = new Set(units(spec).flatMap((unit) => valuesOf(unit, spec).map((row) => row[unit.encoding?.y?.field])));
    rows.delete(undefined);
    const roomy = phone && !spec.facet && spec.height >= 50 * rows.size;
    for (const unit of units(spec)) {
      // A narrow interval is not to be hidden by its point.
      if (small && unit.mark?.type === "point") unit.mark.size = Math.min(unit.mark.size ?? 30, 30);
      if (phone && unit.mark?.fontSize > 15) unit.mark.fontSize = 15;
      const { x, y } = unit.encoding ?? {};
      if (y && Array.isArray(spec.facet?.sort) && spec.columns > 1 && small) y.axis = { ...y.axis, labelLimit: 0.3 * width };
      if (y && y.type !== "quantitative" && y.axis !== null) {
        const limit = Math.min(y.axis?.labelLimit ?? 180, roomy ? 0.27 * width : most);
        y.axis = { ...y.axis, labelLimit: 1.15 * limit };
        // Of long names, providers are left out first, where the models' names stay different. What is
        // still too long takes a few lines, or is cut in the middle: names often differ at their end.
        const letters = Math.floor(limit / 7.2);
        if (longest(y.field) > letters) {
          const names = [...new Set(valuesOf(unit, spec).map((row) => String(row[y.field] ?? "")))];
          const models = names.map((name) => name.split("/").at(-1) || name);
          const short = new Set(models).size === names.length ? models : names;
          const most = spec.resolve?.scale?.y ? 1 : names.length > 6 ? 2 : 3;
          const breaks = names.length > 6 ? /(?<= )/ : undefined;
          const shown = short.map((name) => {
            const parts = lines(name, letters, breaks);
            return parts.length <= most && parts.every((part) => part.length <= letters) ? parts : [cutInMiddle(name, letters, short)];
          });
          const holder = spec.facet ? spec.spec : spec;
          const tallest = Math.max(...shown.map((parts) => parts.length));
          const tall = 14 * tallest + (tallest > 2 ? 14 : 4);
          if (typeof holder.height === "number") holder.height = Math.max(holder.height, tall * names.length);
          y.axis.labelLineHeight = 14;
          const found = `indexof(${JSON.stringify(names)}, datum.label)`;
          y.axis.labelExpr = `${found} < 0 ? datum.label : ${JSON.stringify(shown)}[${found}]`;
        }
        // Names above columns lean only where they have no room beside each other.
        if (x && x.type !== "quantitative" && x.axis?.orient === "top" && x.axis.labelAngle) {
          const columns = new Set(valuesOf(unit, spec).map((row) => String(row[x.field])));
          const room = (width - Math.min(limit, 7.2 * longest(y.field)) - 60) / columns.size;
          if (room > 7.2 * longest(x.field)) x.axis = { ...x.axis, labelAngle: 0, labelAlign: "center", labelBaseline: "bottom" };
        }
      }
      // The width of a panel is not the chart's, from which the number of ticks follows elsewhere.
      if (spec.facet && x?.type === "quantitative" && x.axis) x.axis.tickCount = Math.max(3, Math.floor(spec.spec.width / 60));
      if (!small || !x) continue;
      for (const part of [x, x.axis]) {
        if (typeof part?.title === "string") part.title = lines(part.title, Math.floor(width / 11));
      }
      if (!spec.facet && x.type === "quantitative" && x.axis) delete x.axis.tickCount;
    }
  };

  const look = (colours, background, font) => ({
    background, font,
    view: { stroke: null },
    axis: { labelColor: colours.ink, titleColor: colours.quiet, gridColor: colours.line, domainColor: colours.line,
            tickColor: colours.line, labelFontSize: 13, titleFontSize: 12, titleFontWeight: "normal" },
    // As many numbers as there is room for, each below its line.
    axisXQuantitative: { labelFlush: false, tickCount: { expr: "clamp(floor(width / 70), 3, 8)" } },
    header: { labelColor: colours.ink, labelFontSize: 14 },
    legend: { labelColor: colours.ink, titleColor: colours.quiet, labelFontSize: 13, labelLimit: 400, symbolOpacity: 1 },
  });

  // A name that was cut to fit shows itself in full under the pointer.
  const nameInFull = (picture, spec) => {
    const names = [...new Set(units(spec).flatMap((unit) => valuesOf(unit, spec)).flatMap((row) => Object.values(row)).filter((one) => typeof one === "string"))];
    const inFull = (text) => {
      const [start, end] = text.split("…");
      if (end === undefined) return names.filter((name) => name.endsWith(`/${text}`));
      return names.filter((name) => [name, name.split("/").at(-1)].some((one) => one.startsWith(start) && one.endsWith(end)));
    };
    for (const label of picture.querySelectorAll("text")) {
      const full = inFull(label.textContent).join(", ");
      if (!full) continue;
      const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = full;
      label.append(title);
      label.style.pointerEvents = "all";
      label.parentNode.style.pointerEvents = "all";
    }
  };

  // A picture to take away is drawn again: light, with its legend, of one width on every screen.
  const drawnAlone = async (spec, who, hidden) => {
    const made = switchable(spec, who, hidden, true);
    if (made.width === "container") made.width = 640;
    legendFitted(made, 640);
    const place = element("div");
    const config = look(LIGHT, "#ffffff", getComputedStyle(document.body).fontFamily);
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
    const pageColours = () => {
      const style = getComputedStyle(document.documentElement);
      return Object.fromEntries(Object.keys(LIGHT).map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    };
    const draw = async (place) => {
      const state = states.get(place);
      const config = look(pageColours(), "transparent", getComputedStyle(document.body).fontFamily);
      const themed = dark.matches ? darkened(state.spec) : state.spec;
      const made = switchable(themed, state.who, state.hidden, false);
      place.classList.toggle("matrix", isMatrix(made, place.closest("figure").clientWidth || place.clientWidth));
      // In a closed part there is no width yet; it is as wide as its section will be.
      const width = place.clientWidth || place.closest("section, main").clientWidth - 70;
      state.width = width;
      if (made.width === "container") {
        made.width = width - 4;
        made.autosize = { type: "fit-x", contains: "padding" };
      }
      panelled(made, width);
      narrowed(made, width);
      legendFitted(made, 0.68 * width);
      const options = { config, renderer: "svg", actions: false, tooltip: { theme: dark.matches ? "dark" : "light" } };
      let { view } = await vegaEmbed(place, made, options);
      // How wide the names beside panels are is known only now.
      const left = width - Number(place.querySelector("svg.marks").getAttribute("width"));
      if (made.facet && made.spec?.width && (left < 0 || left > 24)) {
        made.spec.width = Math.max(90, made.spec.width + Math.floor((left - 2) / made.columns));
        view.finalize();
        ({ view } = await vegaEmbed(place, made, options));
      }
      state.view = view;
      // The picture is named as a whole, and its numbers stand in a table.
      const picture = place.querySelector("svg.marks");
      for (const part of picture.querySelectorAll("[role], [aria-label]")) {
        for (const name of ["role", "aria-roledescription", "aria-label"]) part.removeAttribute(name);
      }
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", place.dataset.label);
      nameInFull(picture, state.spec);
      // A chart that is wider than its frame is scrolled, with the keyboard too.
      const frame = place.closest("figure");
      frame.toggleAttribute("tabindex", frame.scrollWidth > frame.clientWidth + 1);
      if (frame.hasAttribute("tabindex")) frame.tabIndex = 0;
      place.dataset.drawn = "yes";
    };

    const switches = (place) => {
      const state = states.get(place);
      const group = element("div", { class: "switches", role: "group", "aria-label": "Shown in the chart" });
      state.who.names.forEach(({ name, place: index }) => {
        const button = element("button", { type: "button", "aria-pressed": "true" });
        if (state.who.coloured && !state.who.named) {
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
    const paint = (darkly = dark.matches) => {
      for (const [place, state] of states) {
        const colours = state.who?.range ?? [];
        for (const swatch of place.closest("figure").querySelectorAll(".swatch")) {
          const colour = colours[Number(swatch.dataset.place)];
          swatch.style.background = (darkly && DARK[colour]) || colour;
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
      const bar = tools(place);
      place.after(bar);
      if (!state.who) continue;
      // A chart that names its lines itself needs no legend, only a way to hide some of them.
      if (state.who.named) bar.prepend(switches(place));
      else place.before(switches(place));
    }
    paint();
    // What is seen is drawn first; the rest when the browser has time, parts that stay closed in
    // print when they are opened.
    let queue = Promise.resolve();
    const asked = new Set();
    const ask = (place) => {
      if (asked.has(place)) return;
      asked.add(place);
      queue = queue.then(() => draw(place)).catch((error) => console.error(error));
    };
    const closed = (place) => place.closest("details:not([open]):not([data-print])");
    const near = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) ask(entry.target);
    }, { rootMargin: "400px" });
    for (const place of places) near.observe(place);
    const rest = () => places.filter((place) => !closed(place)).forEach(ask);
    (window.requestIdleCallback ?? setTimeout)(() => queue.then(rest), { timeout: 1500 });
    window.addEventListener("beforeprint", () => places.filter((place) => !place.closest("details:not([open])")).forEach(ask));
    // Paper is white: while a dark page is printed, its charts have the colours of a light one.
    let lightened = [];
    window.addEventListener("beforeprint", () => {
      if (!dark.matches) return;
      paint(false);
      const light = new Map(Object.entries(DARK).map(([before, after]) => [after.toLowerCase(), before]));
      for (const [name, colour] of Object.entries(pageColours())) light.set(colour.toLowerCase(), LIGHT[name]);
      for (const part of document.querySelectorAll(".chart svg.marks :is([fill], [stroke])")) {
        for (const name of ["fill", "stroke"]) {
          const colour = part.getAttribute(name);
          if (!light.has(colour?.toLowerCase())) continue;
          part.setAttribute(name, light.get(colour.toLowerCase()));
          lightened.push(() => part.setAttribute(name, colour));
        }
      }
    });
    window.addEventListener("afterprint", () => {
      paint();
      lightened.forEach((restore) => restore());
      lightened = [];
    });
    // Drawn in a closed part, the width was a guess.
    document.addEventListener("toggle", (event) => {
      if (!event.target.open) return;
      for (const place of event.target.querySelectorAll(".chart")) {
        if (asked.has(place) && !closed(place) && states.get(place).width !== place.clientWidth) {
          queue = queue.then(() => draw(place));
        }
      }
    }, true);
    const again = () => { paint(); asked.forEach((place) => { queue = queue.then(() => draw(place)); }); };
    dark.addEventListener("change", again);
    let width = window.innerWidth;
    let waiting = 0;
    window.addEventListener("resize", () => {
      if (window.innerWidth === width) return;
      width = window.innerWidth;
      clearTimeout(waiting);
      waiting = setTimeout(again, 200);
    });
  };
  return { start };
})();

