// Wide and long tables: a click on a head sorts, a field above keeps the rows that contain its text.
(() => {
  const value = row => row.textContent.trim();
  const collator = new Intl.Collator("en", {numeric: true});
  const number = text => parseFloat(text.replace(/,/g, ""));
  for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
    const body = table.tBodies[0], rows = body ? [...body.rows] : [];
    if (rows.length < 8 || table.tHead.rows[0].cells.length < 6) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.textContent = head.textContent;
      button.style = "cursor: pointer; font: inherit";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "descending";
        [...table.tHead.rows[0].cells].forEach(other => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "ascending" : "descending");
        const cells = rows.map(row => ({row, text: value(row.cells[column]), number: number(value(row.cells[column]))}));
        cells.sort((a, b) => !a.text - !b.text || (down ? 1 : -1) * (a.number - b.number || collator.compare(a.text, b.text)));
        body.append(...cells.map(cell => cell.row));
      });
    });
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = "rows with ...";
    field.style = "border: 1px solid; border-radius: 3px; padding: .2rem .5rem; margin: .4rem 0; font: inherit";
    field.setAttribute("aria-label", "show the rows that contain this text");
    field.addEventListener("input", () => rows.forEach(row => { row.hidden = !value(row).toLowerCase().includes(field.value.toLowerCase()); }));
    const place = table.closest(".md-typeset__scrollwrap, .wide") || table;
    place.before(field);
  }
})();
