// Replies: situations with all replies to them, found by words, emotion and respondent. The data
// stand in the page once; what is seen is made from them, some at a time, and only ever as text.
const replies = document.getElementById("replies-data");
if (replies) {
  const phone = matchMedia("(max-width: 40rem)").matches;
  const AT_ONCE = phone ? 3 : 5;
  const MOST_REPLIES = phone ? 3 : 6;
  const LONG = 1500;
  const data = JSON.parse(replies.textContent);
  const entries = data.situations;
  const form = document.querySelector(".filters");
  const cards = document.querySelector(".cards.browser");
  const pager = document.querySelector(".pager");
  // Search does not mind capitals, accents or how an accent is written.
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const contents = entries.map((one) =>
    plain([one.title, one.text, one.utterance, one.group, ...one.replies.map((reply) => reply.text)].filter(Boolean).join("\n")));
  let found = [];
  let first = 0;
  const shownName = (name) => (name === "human" ? "people" : name);
  const count = (number) => number.toLocaleString("en");

  const made = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text) element.textContent = text;
    return element;
  };
  // The text with the words that were searched for marked.
  const marked = (element, text, words) => {
    const folded = words.length ? text.toLowerCase() : "";
    let from = 0;
    while (words.length && folded.length === text.length) {
      const next = words.map((word) => [folded.indexOf(word, from), word.length])
        .filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) break;
      element.append(text.slice(from, next[0]), made("mark", "", text.slice(next[0], next[0] + next[1])));
      from = next[0] + next[1];
    }
    element.append(text.slice(from));
    element.dir = "auto";
    return element;
  };
  // A very long text is cut until the reader asks for all of it.
  const passage = (name, className, text, words) => {
    if (text.length <= LONG) return marked(made(name, className), text, words);
    const element = marked(made(name, className), `${text.slice(0, LONG)}…`, words);
    const more = made("button", "more-text", `all ${text.length.toLocaleString("en")} characters`);
    more.type = "button";
    more.addEventListener("click", () => { element.textContent = text; });
    element.append(" ", more);
    return element;
  };
  const reply = (one, words) => {
    const box = made("div", `reply ${one.outcome === "valid" ? "valid" : "unusable"}`);
    const who = made("p", "who");
    who.append(made("bdi", "", shownName(data.respondents[one.respondent])));
    if (one.outcome !== "valid") who.append(" · ", made("strong", "", one.outcome.replaceAll("_", " ")));
    if (one.reason) who.append(` · ${one.reason}`);
    box.append(who, passage("p", "", one.text || "(no text)", words));
    return box;
  };
  const card = (entry, respondent, words) => {
    const article = made("article", "card situation");
    article.tabIndex = -1;
    article.dataset.group = entry.group;
    const head = made("h4");
    const valence = ["positive", "negative"].includes(entry.valence) ? entry.valence : "";
    head.append(made("span", `tag ${valence}`, entry.group || entry.situation));
    if (entry.title) head.append(" ", made("bdi", "", entry.title));
    article.append(head);
    if (entry.text !== entry.utterance) article.append(passage("p", "situation-text", entry.text, words));
    if (entry.utterance) article.append(passage("blockquote", "utterance", entry.utterance, words));
    const side = made("div", "side");
    const asked = words.map(plain);
    const matches = asked.length
      ? new Map(entry.replies.map((one) => [one, asked.filter((word) => plain(one.text ?? "").includes(word)).length]))
      : new Map();
    // Those with most of the words that were searched for come first.
    const chosen = entry.replies.filter((one) => respondent === "" || one.respondent === Number(respondent))
      .sort((a, b) => (matches.get(b) ?? 0) - (matches.get(a) ?? 0));
    const shown = chosen.length > MOST_REPLIES ? MOST_REPLIES : chosen.length;
    side.append(...chosen.slice(0, shown).map((one) => reply(one, words)));
    article.append(side);
    if (shown < chosen.length) {
      const more = made("button", "more-text more-replies", `Show all ${count(chosen.length)} replies`);
      more.type = "button";
      more.addEventListener("click", () => {
        side.append(...chosen.slice(shown).map((one) => reply(one, words)));
        more.remove();
        side.children[shown].tabIndex = -1;
        side.children[shown].focus({ preventScroll: true });
      });
      article.append(more);
    }
    return article;
  };
  const wanted = () => form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const show = () => {
    const respondent = form.elements.respondent?.value ?? "";
    const words = wanted();
    cards.replaceChildren(...found.slice(first, first + AT_ONCE).map((place) => card(entries[place], respondent, words)));
    const last = Math.min(first + AT_ONCE, found.length);
    pager.hidden = found.length <= AT_ONCE;
    pager.querySelector(".place").textContent = found.length ? `${count(first + 1)} to ${count(last)} of ${count(found.length)}` : "";
    pager.querySelector("[name=back]").disabled = first === 0;
    pager.querySelector("[name=on]").disabled = last >= found.length;
  };
  const choose = () => {
    const group = form.elements.group.value;
    const respondent = form.elements.respondent?.value ?? "";
    const words = wanted().map(plain);
    found = [];
    entries.forEach((entry, place) => {
      if (group && entry.group !== group) return;
      if (respondent !== "" && !entry.replies.some((one) => one.respondent === Number(respondent))) return;
      if (words.every((word) => contents[place].includes(word))) found.push(place);
    });
    first = 0;
    form.querySelector("output").textContent = `${count(found.length)} of ${count(entries.length)} situations`;
    show();
  };
  const turn = (by) => {
    const next = first + by * AT_ONCE;
    if (next < 0 || next >= found.length) return;
    first = next;
    show();
    cards.firstElementChild.focus({ preventScroll: true });
    cards.scrollIntoView({ block: "start" });
  };
  pager.querySelector("[name=back]").addEventListener("click", () => turn(-1));
  pager.querySelector("[name=on]").addEventListener("click", () => turn(1));
  // On a situation, the arrows go to the one above or below, and to the pages before and after.
  cards.addEventListener("keydown", (event) => {
    if (event.target.closest(".card") !== event.target) return;
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (step) event.target[step]?.focus();
    else if (event.key === "ArrowRight") turn(1);
    else if (event.key === "ArrowLeft") turn(-1);
    else return;
    event.preventDefault();
  });
  let waiting = 0;
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(choose, event.target.type === "search" ? 120 : 0);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && event.target.type === "search") {
      event.preventDefault();
      cards.firstElementChild?.focus();
    }
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  choose();
}
