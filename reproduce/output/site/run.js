// Training curves and attention maps of one run; after charts.js.

// -- training curves of one run over those of the other seeds --

const training = data("curves");
if (training) {
  const place = document.getElementById("training-curves"), view = make("div"), said = saying();
  const names = Object.keys(training).sort((a, b) => (b === "train_loss") - (a === "train_loss"));
  const [label, which] = choice("Curve", names.map(name => [name, name]), () => refresh());
  const refresh = () => {
    const lines = training[which.value].map(([seed, points], number) => ({color: COLORS[number % COLORS.length], thin: number > 0,
      points: points.map(([step, value]) => [step, value, `seed ${seed}, step ${step}: ${value}`])})).reverse();
    const others = training[which.value].slice(1).map(([seed]) => seed).join(", ");
    said.textContent = (others ? `Thick: this seed; thin: seeds ${others}. ` : "") + "Point at a mark, or use the arrow keys.";
    view.replaceChildren(plot(lines, which.value + " by step", false, false, text => { said.textContent = text; }));
  };
  place.append(make("p", {}, label), said, view);
  refresh();
}

// -- attention --

const stored = data("attention-map");
if (stored) {
  const place = document.getElementById("attention-viewer"), said = saying();
  const [layers, heads, queries, keys] = stored.shape, edge = 36, size = Math.max(10, Math.min(18, Math.floor(560 / keys)));
  const bytes = stored.maps.map(map => Uint8Array.from(atob(map.weights), letter => letter.charCodeAt(0)));
  const [exampleLabel, example] = choice("Example", stored.maps.map((map, number) => [number, map.name]), () => refresh(true));
  let [chosen, row, column] = [0, queries - 1, 0];
  const named = head => `layer ${Math.floor(head / heads) + 1}, head ${head % heads + 1}`;
  const weight = (head, q, k) => bytes[+example.value][(head * queries + q) * keys + k] / 255;
  const colour = Array.from({length: 256}, (_, step) => step < 3 ? "#000" : shade(INFERNO, Math.sqrt((step / 255 - 0.01) / 0.99)));
  const paint = (pen, head, x, y, side) => {
    for (let q = 0; q < queries; q++) for (let k = 0; k < keys; k++) {
      pen.fillStyle = colour[Math.round(255 * weight(head, q, k))];
      pen.fillRect(x + k * side, y + q * side, side, side);
    }
  };
  const small = Array.from({length: layers * heads}, (_, head) => {
    const button = make("button", {type: "button"}, make("canvas", {width: keys, height: queries}), named(head));
    button.addEventListener("click", () => { chosen = head; refresh(); });
    return button;
  });
  const canvas = make("canvas", {width: edge + keys * size + 80, height: edge + queries * size + 4, tabindex: "0", role: "img",
    "aria-label": "attention from each query (rows) to each key (columns); the arrow keys move the mark"});
  const refresh = again => {
    const pen = canvas.getContext("2d"), tokens = stored.maps[+example.value].tokens.map(token => token === " " ? "␣" : token);
    const ink = getComputedStyle(document.body).color, [right, high] = [edge + keys * size + 12, queries * size];
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = ink;
    pen.font = "11px system-ui, sans-serif";
    pen.fillText("key →", edge, 11);
    pen.fillText("query", 0, edge - 14);
    pen.fillText("↓", 0, edge);
    pen.textAlign = "center";
    tokens.slice(0, keys).forEach((token, k) => pen.fillText(token, edge + (k + 0.5) * size, edge - 5));
    tokens.slice(0, queries).forEach((token, q) => pen.fillText(token, edge - 10, edge + (q + 0.75) * size));
    pen.textAlign = "left";
    pen.fillText("attention", right, 11);
    for (let y = 0; y < high; y++) {
      pen.fillStyle = shade(INFERNO, 1 - y / high);
      pen.fillRect(right, edge + y, 12, 1);
    }
    pen.fillStyle = ink;
    for (const value of [1, 0.5, 0.25, 0.1, 0.01]) {
      pen.fillText(String(value), right + 16, edge + 4 + high * (1 - Math.sqrt((value - 0.01) / 0.99)));
    }
    paint(pen, chosen, edge, edge, size);
    pen.strokeStyle = "#40c4ff";
    pen.lineWidth = 2;
    pen.strokeRect(edge + column * size, edge + row * size, size, size);
    small.forEach((button, head) => {
      button.setAttribute("aria-pressed", String(head === chosen));
      if (again) paint(button.firstChild.getContext("2d"), head, 0, 0, 1);
    });
    said.textContent = `${named(chosen)}: query '${tokens[row]}' (${row + 1}) to key '${tokens[column]}' (${column + 1}): `
      + weight(chosen, row, column).toFixed(3);
  };
  const move = (q, k) => {
    [row, column] = [Math.max(0, Math.min(queries - 1, q)), Math.max(0, Math.min(keys - 1, k))];
    refresh();
  };
  canvas.addEventListener("pointermove", event => {
    const box = canvas.getBoundingClientRect();
    move(Math.floor((event.clientY - box.top - edge) / size), Math.floor((event.clientX - box.left - edge) / size));
  });
  canvas.addEventListener("keydown", event => {
    const by = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (!by) return;
    event.preventDefault();
    move(row + by[0], column + by[1]);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh());
  const all = make("div", {class: "heads"}, ...small);
  all.style.gridTemplateColumns = `repeat(${heads}, minmax(0, 8rem))`;
  place.append(make("p", {}, exampleLabel), all, said, make("div", {class: "scroll"}, canvas));
  refresh(true);
}
