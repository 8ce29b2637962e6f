"use strict";
// Filter, exact counts, curves and attention maps. Everything is built from nodes and text, never from markup.
const COLORS = ["#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#949494", "#56b4e9", "#8c7a00", "#7f3fbf"];
const data = id => { const found = document.getElementById(id); return found ? JSON.parse(found.textContent) : null; };
const rate = (right, n) => (100 * right / n).toFixed(1) + " %";

function make(name, settings = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(settings)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
function draw(name, settings, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(settings)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
function choice(words, options, changed) {
  const select = make("select");
  options.forEach(([value, text]) => select.append(make("option", {value}, text)));
  select.addEventListener("input", changed);
  return [make("label", {}, words + " ", select), select];
}
function toggle(words, on, changed) {
  const box = make("input", {type: "checkbox"});
  box.checked = on;
  box.addEventListener("input", () => changed(box.checked));
  return make("label", {}, box, " " + words);
}
const saying = () => make("p", {class: "said", "aria-live": "polite"});

// One of many marks takes the focus; arrows move it by `step(key, place)`, and what has it is said.
function roving(marks, step, say) {
  marks.forEach((mark, place) => {
    mark.setAttribute("tabindex", place ? "-1" : "0");
    mark.addEventListener("focus", () => say(place));
    mark.addEventListener("pointerenter", () => say(place));
    mark.addEventListener("keydown", event => {
      const next = step(event.key, place);
      if (next === undefined || !marks[next]) return;
      event.preventDefault();
      mark.setAttribute("tabindex", "-1");
      marks[next].setAttribute("tabindex", "0");
      marks[next].focus();
    });
  });
}

// -- counts: a heat map where there are two axes, curves where there is one --

function pooled(seeds, place) {
  return seeds.reduce(([right, n], seed) => [right + seed.right[place], n + seed.n[place]], [0, 0]);
}
function seedsOf(item, mode, seed) {
  return (item.modes[mode] || []).filter(one => seed === "all" || String(one.seed) === seed);
}
function heat(item, mode, seed, say) {
  const seeds = seedsOf(item, mode, seed);
  const ordered = axis => [...new Set(item.cells.map(cell => cell[axis]))].sort((a, b) => a - b);
  const lengths = ordered(0), numbers = ordered(1);
  const place = new Map(item.cells.map((cell, index) => [cell.join(), index]));
  const table = make("table", {class: "grid", "aria-label": item.name + ": exact match by length and count"});
  const marks = [], words = [], where = new Map();
  lengths.forEach((length, y) => {
    const row = make("tr", {}, make("th", {scope: "row"}, String(length)));
    numbers.forEach((count, x) => {
      const index = place.get([length, count].join());
      const [right, n] = index === undefined ? [0, 0] : pooled(seeds, index);
      const cell = make("td");
      if (n) {
        const share = right / n;
        cell.textContent = Math.round(100 * share);
        cell.style.background = `hsl(210 70% ${96 - 62 * share}%)`;
        cell.style.color = share > 0.79 ? "#fff" : "#000";
        if (item.inside[index]) cell.className = "inside";
        where.set(x + "," + y, marks.length);
        words.push(`length ${length}, count ${count}: ${right} of ${n} right, ${rate(right, n)}`
          + (item.inside[index] ? ", trained" : ", not trained"));
        cell.setAttribute("aria-label", words.at(-1));
        marks.push(cell);
        cell.dataset.x = x;
        cell.dataset.y = y;
      }
      row.append(cell);
    });
    table.append(row);
  });
  table.append(make("tr", {}, make("th", {scope: "row"}, "length / count"),
    ...numbers.map(count => make("th", {scope: "col"}, String(count)))));
  const moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  roving(marks, (key, at) => {
    if (!moves[key]) return undefined;
    const {x, y} = marks[at].dataset;
    return where.get((+x + moves[key][0]) + "," + (+y + moves[key][1]));
  }, at => say(words[at]));
  return table;
}

// lines: {name, color, thin, points: [[x, y, words]]}; marks only on lines that are not thin
function plot(lines, label, unit, say) {
  const all = lines.flatMap(line => line.points);
  const svg = draw("svg", {class: "plot", viewBox: "0 0 640 300", role: "group", "aria-label": label});
  if (!all.length) return make("p", {}, "Nothing is chosen.");
  const xs = all.map(point => point[0]), ys = all.map(point => point[1]);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = unit ? [0, 1] : [Math.min(0, ...ys), Math.max(...ys)];
  const X = x => 56 + 570 * (x - left) / ((right - left) || 1), Y = y => 260 - 245 * (y - low) / ((high - low) || 1);
  for (let part = 0; part <= 4; part++) {
    const y = low + (high - low) * part / 4;
    svg.append(draw("line", {class: "axis", x1: 56, x2: 626, y1: Y(y), y2: Y(y)}),
      draw("text", {x: 50, y: Y(y) + 4, "text-anchor": "end"}, unit ? Math.round(100 * y) + " %" : String(+y.toPrecision(2))));
  }
  let free = -Infinity;
  for (const x of [...new Set(xs)].sort((a, b) => a - b)) {  // what was measured, where it has room
    if (X(x) < free) continue;
    svg.append(draw("text", {x: X(x), y: 280, "text-anchor": "middle"}, String(x)));
    free = X(x) + (unit ? 28 : 70);
  }
  svg.append(draw("text", {x: 340, y: 296, "text-anchor": "middle"}, unit ? "length" : "step"));
  const marks = [], words = [];
  for (const line of lines) {
    const points = line.points.map(([x, y]) => X(x).toFixed(1) + "," + Y(y).toFixed(1)).join(" ");
    svg.append(draw("polyline", {points, stroke: line.color, class: line.thin ? "seed" : ""}));
    if (line.thin) continue;
    for (const [x, y, text] of line.points) {
      const mark = draw("circle", {cx: X(x), cy: Y(y), r: unit ? 5 : 3, fill: line.color, role: "img", "aria-label": text});
      marks.push(mark);
      words.push(text);
      svg.append(mark);
    }
  }
  const by = {ArrowLeft: -1, ArrowRight: 1};
  roving(marks, (key, at) => by[key] && at + by[key], at => say(words[at]));
  return svg;
}
function curves(items, mode, shown, withSeeds, say) {
  const lines = [];
  items.forEach((item, number) => {
    const seeds = seedsOf(item, mode, "all"), color = COLORS[number % COLORS.length];
    if (!shown.has(number) || !seeds.length) return;
    const line = (some, name) => item.cells.flatMap(([length], place) => {
      const [right, n] = pooled(some, place);
      return n ? [[length, right / n, `${name}, length ${length}: ${right} of ${n} right, ${rate(right, n)}`
        + (item.inside[place] ? ", trained" : ", not trained")]] : [];
    });
    if (withSeeds) seeds.forEach(seed => lines.push({color, thin: true, points: line([seed], item.name + " seed " + seed.seed)}));
    lines.push({color, points: line(seeds, item.name)});
  });
  return plot(lines, "exact match by length", true, say);
}
function explore(place) {
  const all = data("counts"), items = JSON.parse(place.dataset.keys).map(key => all[key]).filter(Boolean);
  if (!items.length) return;
  const modes = [...new Set(items.flatMap(item => Object.keys(item.modes)))];
  const preferred = modes.includes("teacher_forced") ? "teacher_forced" : modes[0];
  const controls = make("p"), view = make("div"), said = saying(), say = text => { said.textContent = text; };
  const grid = items.some(item => new Set(item.cells.map(cell => cell[1])).size > 1);
  const [modeLabel, mode] = choice("Response", modes.map(name => [name, name.replace("_", "-")]), () => refresh());
  mode.value = preferred;
  controls.append(modeLabel);
  let refresh;
  if (grid) {
    const [label, which] = choice("Runs", items.map((item, number) => [number, item.name]), () => { fill(); refresh(); });
    const [seedLabel, seed] = choice("Seed", [["all", "all together"]], () => refresh());
    const fill = () => seed.replaceChildren(make("option", {value: "all"}, "all together"),
      ...seedsOf(items[+which.value], mode.value, "all").map(one => make("option", {value: one.seed}, String(one.seed))));
    fill();
    controls.append(label, seedLabel);
    refresh = () => view.replaceChildren(heat(items[+which.value], mode.value, seed.value, say));
    said.textContent = "Percent right of all examples; trained cells are framed. Point at a cell, or use the arrow keys.";
  } else {
    const shown = new Set(items.keys());
    let withSeeds = true;
    items.forEach((item, number) => {
      const label = toggle(item.name, true, on => { on ? shown.add(number) : shown.delete(number); refresh(); });
      label.style.borderBottom = "3px solid " + COLORS[number % COLORS.length];
      controls.append(label, " ");
    });
    controls.append(toggle("each seed", true, on => { withSeeds = on; refresh(); }));
    refresh = () => view.replaceChildren(curves(items, mode.value, shown, withSeeds, say));
    said.textContent = "Thick: all seeds together; thin: each seed. Point at a mark, or use the arrow keys.";
  }
  place.append(controls, said, view);
  refresh();
}
for (const place of document.querySelectorAll(".explorer")) {
  const details = place.closest("details");
  if (!details) explore(place);
  else details.addEventListener("toggle", () => { if (details.open && !place.firstChild) explore(place); });
}

// -- training curves of one run --

const training = data("curves");
if (training) {
  const place = document.getElementById("training-curves"), view = make("div"), said = saying();
  const names = Object.keys(training).sort((a, b) => (b === "train_loss") - (a === "train_loss"));
  const [label, which] = choice("Curve", names.map(name => [name, name]), () => refresh());
  const refresh = () => {
    const points = training[which.value].map(([step, value]) => [step, value, `step ${step}: ${value}`]);
    view.replaceChildren(plot([{color: COLORS[0], points}], which.value + " by step", false, text => { said.textContent = text; }));
  };
  place.append(make("p", {}, label), said, view);
  refresh();
}

// -- attention --

const stored = data("attention-map");
if (stored) {
  const place = document.getElementById("attention-viewer"), said = saying();
  const [layers, heads, queries, keys] = stored.shape;
  const bytes = stored.maps.map(map => Uint8Array.from(atob(map.weights), letter => letter.charCodeAt(0)));
  const upTo = n => Array.from({length: n}, (_, number) => [number, String(number + 1)]);
  const [exampleLabel, example] = choice("Example", stored.maps.map((map, number) => [number, map.name]), () => refresh());
  const [layerLabel, layer] = choice("Layer", upTo(layers), () => refresh());
  const [headLabel, head] = choice("Head", upTo(heads), () => refresh());
  const size = Math.max(3, Math.min(16, Math.floor(640 / keys)));
  const canvas = make("canvas", {width: keys * size, height: queries * size, tabindex: "0", role: "img",
    "aria-label": "attention from each position (rows) to each position (columns); the arrow keys move the mark"});
  let [row, column] = [queries - 1, 0];
  const weight = (q, k) => bytes[+example.value][((+layer.value * heads + +head.value) * queries + q) * keys + k] / 255;
  const refresh = () => {
    const pen = canvas.getContext("2d");
    for (let q = 0; q < queries; q++) for (let k = 0; k < keys; k++) {
      const shade = Math.round(255 * (1 - weight(q, k)));
      pen.fillStyle = `rgb(${shade}, ${Math.round(110 + shade * 145 / 255)}, ${Math.round(170 + shade * 85 / 255)})`;
      pen.fillRect(k * size, q * size, size, size);
    }
    pen.strokeStyle = "#d55e00";
    pen.lineWidth = 2;
    pen.strokeRect(column * size, row * size, size, size);
    const tokens = stored.maps[+example.value].tokens;
    said.textContent = `layer ${+layer.value + 1}, head ${+head.value + 1}: from '${tokens[row]}' (${row + 1}) `
      + `to '${tokens[column]}' (${column + 1}): ${weight(row, column).toFixed(3)}`;
  };
  const move = (q, k) => {
    [row, column] = [Math.max(0, Math.min(queries - 1, q)), Math.max(0, Math.min(keys - 1, k))];
    refresh();
  };
  canvas.addEventListener("pointermove", event => {
    const box = canvas.getBoundingClientRect();
    move(Math.floor((event.clientY - box.top) / box.height * queries), Math.floor((event.clientX - box.left) / box.width * keys));
  });
  canvas.addEventListener("keydown", event => {
    const by = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (!by) return;
    event.preventDefault();
    move(row + by[0], column + by[1]);
  });
  place.append(make("p", {}, exampleLabel, layerLabel, headLabel), said, canvas);
  refresh();
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
