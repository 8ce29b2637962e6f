// Tables that are sorted, statements and experiments that are filtered, places that a link names.

// -- tables sorted by a click on a heading --

const collator = new Intl.Collator("en", {numeric: true});
for (const table of document.querySelectorAll(".scroll table")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = make("button", {type: "button"}, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const cells = [...body.rows].map(row => {
        const text = row.cells[column].textContent.trim();
        return {row, text, number: parseFloat(text.replaceAll(",", ""))};
      });
      cells.sort((a, b) => !a.text - !b.text || sign * (a.number - b.number || collator.compare(a.text, b.text)));
      body.append(...cells.map(cell => cell.row));
    });
  });
}

// -- filter, deep links, print --

const verdict = document.getElementById("verdict"), text = document.getElementById("text");
if (verdict) {
  const filter = () => {
    const claims = [...document.querySelectorAll(".claim")], asked = text.value.toLowerCase();
    for (const claim of claims) claim.hidden = !((!verdict.value || claim.dataset.verdict === verdict.value)
      && claim.textContent.toLowerCase().includes(asked));
    const any = verdict.value || asked;
    for (const card of document.querySelectorAll("section.card")) card.hidden = Boolean(any)
      && !card.querySelector(".claim:not([hidden])") && !(asked && card.querySelector("h3").textContent.toLowerCase().includes(asked));
    document.getElementById("shown").textContent = `${claims.filter(claim => !claim.hidden).length} of ${claims.length} statements`;
  };
  for (const control of [verdict, text]) control.addEventListener("input", filter);
  filter();
}
const [second, third, state] = ["second", "third", "state"].map(name => document.getElementById(name));
if (second) {
  const rows = [...document.querySelectorAll("tr.experiment")];
  const choose = () => {
    for (const row of rows) row.hidden = Boolean((second.value && row.dataset.second !== second.value)
      || (third.value && row.dataset.third !== third.value) || (state.value && row.dataset.state !== state.value));
    document.getElementById("left").textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} experiments`;
  };
  for (const control of [second, third, state]) control.addEventListener("input", choose);
  choose();
}
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let parent = target; parent; parent = parent.parentElement) {
    parent.hidden = false;
    if (parent.tagName === "DETAILS") parent.open = true;
  }
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();
