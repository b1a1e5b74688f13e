// In the search field a dash before a word excludes the word. Readers who search for an option,
// such as --max-cost, mean the option: leave out its dashes.
for (const kind of ["input", "keyup"]) {
  document.addEventListener(kind, ({ target }) => {
    if (!target.matches?.("[data-md-component=search-query]")) return;
    const plain = target.value.replace(/(^|\s)-+(?=[\p{L}\p{N}])/gu, "$1");
    if (plain !== target.value) target.value = plain;
  }, true);
}
