// Exact counts as heat maps and curves, training curves, attention maps. Everything is built from nodes and text, never
// from markup.
(() => {
"use strict";
const COLORS = ["#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#949494", "#56b4e9", "#8c7a00", "#7f3fbf"];
// Colours of the pictures, at even distances: YlGnBu, its grey of what was not learned, inferno.
const HEAT = ["#ffffd9", "#edf8b1", "#c6e9b4", "#7ecdbb", "#40b5c4", "#1d90c0", "#225da8", "#243392", "#081d58"];
const GREY = ["#f7f7f7", "#808080"];
const INFERNO = ["#000004", "#210c4a", "#57106e", "#8a226a", "#bc3754", "#e45a31", "#f98e09", "#f9cb35", "#fcffa4"];
const FEW = 10;  // lines that can be chosen without a fold
const data = id => { const found = document.getElementById(id); return found ? JSON.parse(found.textContent) : null; };

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
function shade(colours, share) {
  const at = Math.max(0, Math.min(1, share)) * (colours.length - 1), low = Math.min(Math.floor(at), colours.length - 2);
  const [from, to] = [colours[low], colours[low + 1]].map(code => [1, 3, 5].map(k => parseInt(code.slice(k, k + 2), 16)));
  return `rgb(${from.map((part, k) => Math.round(part + (to[k] - part) * (at - low)))})`;
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

// The median of the seeds that learned, as in the pictures; of all if none did. With the counts of every seed in words,
// or its mean where what is counted, as edits are, is no share.
function middle(seeds, place, mean) {
  const tested = seeds.filter(seed => seed.n[place]), learned = tested.filter(seed => seed.learned);
  const shares = (learned.length ? learned : tested).map(seed => seed.right[place] / seed.n[place]).sort((a, b) => a - b);
  const half = shares.length / 2, share = shares.length ? (shares[Math.ceil(half) - 1] + shares[Math.floor(half)]) / 2 : NaN;
  const told = mean ? share.toPrecision(3) : (100 * share).toFixed(1) + " %";
  const counts = tested.map(seed => (tested.length > 1 ? `seed ${seed.seed}: ` : "")
    + (mean ? (seed.right[place] / seed.n[place]).toPrecision(3) : `${seed.right[place]} of ${seed.n[place]} right`)
    + (seed.learned ? "" : " (not learned)")).join(", ");
  return [share, tested.length > 1 ? `median ${told}; ${counts}` : mean ? counts : `${counts}, ${told}`];
}
const even = value => value % 1 === 0.5 ? 2 * Math.round(value / 2) : Math.round(value);
function seedsOf(item, mode, seed) {
  return (item.modes[mode] || []).filter(one => seed === "all" || String(one.seed) === seed);
}
function heat(item, mode, seed, mean, say) {
  const seeds = seedsOf(item, mode, seed);
  const ordered = axis => [...new Set(item.cells.map(cell => cell[axis]))].sort((a, b) => a - b);
  const lengths = ordered(0), numbers = ordered(1);
  const place = new Map(item.cells.map((cell, index) => [cell.join(), index]));
  const table = make("table", {class: "grid", "aria-label": item.name + ": median by length and count"});
  const most = mean ? Math.max(...item.cells.map((_, index) => middle(seeds, index, mean)[0]).filter(share => share >= 0)) || 1 : 1;
  const marks = [], words = [], where = new Map(), colours = seeds.some(one => one.learned) ? HEAT : GREY;
  lengths.forEach((length, y) => {
    const row = make("tr", {}, make("th", {scope: "row"}, String(length)));
    numbers.forEach((count, x) => {
      const index = place.get([length, count].join());
      const [share, told] = index === undefined ? [NaN] : middle(seeds, index, mean);
      const cell = make("td");
      if (share >= 0) {
        cell.textContent = mean ? (share && share < 9.95 ? share.toFixed(1) : even(share)) : even(100 * share);
        cell.style.background = shade(colours, share / most);
        cell.style.color = colours === HEAT && share / most > 0.675 ? "#fff" : "#000";
        if (item.inside[index]) cell.className = "inside";
        where.set(x + "," + y, marks.length);
        words.push(`length ${length}, count ${count}: ${told}`
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

// lines: {name, color, thin, points: [[x, y, words]]}; marks only on lines that are not thin. Over lengths or, on a
// logarithmic axis, over steps; shares in percent.
function plot(lines, label, lengths, share, say) {
  const all = lines.flatMap(line => line.points);
  const svg = draw("svg", {class: "plot", viewBox: "0 0 640 300", role: "group", "aria-label": label});
  if (!all.length) return make("p", {}, "Nothing is chosen.");
  const xs = all.map(point => point[0]), ys = all.map(point => point[1]);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = share ? [0, 1] : [Math.min(0, ...ys), Math.max(...ys)];
  const along = x => lengths ? x : Math.log(Math.max(x, 1)), span = along(right) - along(left);
  const X = x => 56 + 570 * (along(x) - along(left)) / (span || 1), Y = y => 260 - 245 * (y - low) / ((high - low) || 1);
  const rough = (high - low) / 4 || 1, ten = 10 ** Math.floor(Math.log10(rough));
  const step = share ? 0.25 : ten * [1, 2, 5, 10].find(times => times * ten >= 0.99 * rough);
  for (let y = Math.ceil(low / step) * step; y <= high + step / 100; y += step) {
    svg.append(draw("line", {class: "axis", x1: 56, x2: 626, y1: Y(y), y2: Y(y)}),
      draw("text", {x: 50, y: Y(y) + 4, "text-anchor": "end"}, share ? Math.round(100 * y) + " %" : String(+y.toPrecision(3))));
  }
  let free = -Infinity;
  const round = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap(power => [power, 2 * power, 5 * power]);
  // lengths that were tested, or round steps, where they have room
  for (const x of lengths ? [...new Set(xs)].sort((a, b) => a - b) : round.filter(one => left <= one && one <= right)) {
    if (X(x) < free) continue;
    svg.append(draw("text", {x: X(x), y: 280, "text-anchor": "middle"}, x.toLocaleString("en")));
    free = X(x) + (lengths ? 28 : 44);
  }
  svg.append(draw("text", {x: 340, y: 296, "text-anchor": "middle"}, lengths ? "length" : "steps (logarithmic)"));
  const marks = [], words = [];
  for (const line of lines) {
    const points = line.points.map(([x, y]) => X(x).toFixed(1) + "," + Y(y).toFixed(1)).join(" ");
    svg.append(draw("polyline", {points, stroke: line.color, class: line.thin ? "seed" : "", "stroke-dasharray": line.dash || "none"}));
    if (line.thin) continue;
    for (const [x, y, text] of line.points) {
      const mark = draw("circle", {cx: X(x), cy: Y(y), r: lengths ? 5 : 3, fill: line.color, role: "img", "aria-label": text});
      marks.push(mark);
      words.push(text);
      svg.append(mark);
    }
  }
  const by = {ArrowLeft: -1, ArrowRight: 1};
  roving(marks, (key, at) => by[key] && at + by[key], at => say(words[at]));
  return svg;
}
function curves(items, mode, shown, withSeeds, mean, say) {
  const lines = [];
  items.forEach((item, number) => {
    const seeds = seedsOf(item, mode, "all"), color = item.color;
    const dash = ["", "7 4", "2 3"][items.slice(0, number).filter(other => other.color === color).length % 3];
    if (!shown.has(number) || !seeds.length) return;
    const line = (some, name) => item.cells.flatMap(([length], place) => {
      const [share, told] = middle(some, place, mean);
      return share >= 0 ? [[length, share, `${name}, length ${length}: ${told}`
        + (item.inside[place] ? ", trained" : ", not trained")]] : [];
    });
    if (withSeeds) seeds.forEach(seed => lines.push({color, dash, thin: true, points: line([seed], item.name + " seed " + seed.seed)}));
    lines.push({color, dash, points: line(seeds, item.name)});
  });
  return plot(lines, (mean ? "edit distance" : "right") + " by length", true, !mean, say);
}
function explore(place) {
  const all = data("counts"), items = JSON.parse(place.dataset.keys).filter(([key]) => all[key]).map(([key, name, color], number) =>
    ({...all[key], name: name || all[key].name, color: color || COLORS[number % COLORS.length]}));
  if (!items.length) return;
  const modes = [...new Set(items.flatMap(item => Object.keys(item.modes)))];
  const preferred = modes.includes("teacher_forced") ? "teacher_forced" : modes[0];
  const controls = make("p"), view = make("div"), said = saying(), say = text => { said.textContent = text; };
  const mean = "mean" in place.dataset, grid = items.some(item => new Set(item.cells.map(cell => cell[1])).size > 1);
  const [modeLabel, mode] = choice("Response", modes.map(name => [name, name.replace("_", "-")]), () => refresh());
  mode.value = preferred;
  controls.append(modeLabel);
  let refresh;
  if (grid) {
    const [label, which] = choice("Runs", items.map((item, number) => [number, item.name]), () => { fill(); refresh(); });
    const [seedLabel, seed] = choice("Seed", [["all", "median"]], () => refresh());
    const fill = () => seed.replaceChildren(make("option", {value: "all"}, "median"),
      ...seedsOf(items[+which.value], mode.value, "all").map(one => make("option", {value: one.seed}, String(one.seed))));
    fill();
    controls.append(label, seedLabel);
    refresh = () => view.replaceChildren(heat(items[+which.value], mode.value, seed.value, mean, say));
    said.textContent = place.dataset.measure + (mean ? "" : " in percent") + ", median of the seeds that learned; trained cells are framed. Point at a cell, or use the arrow keys.";
  } else {
    const shown = new Set(items.keys());
    let withSeeds = true;
    const lines = make("span"), labels = items.map((item, number) => {
      const label = toggle(item.name, true, on => { on ? shown.add(number) : shown.delete(number); refresh(); });
      label.style.borderBottom = "3px solid " + item.color;
      lines.append(label, " ");
      return label;
    });
    if (items.length <= FEW) controls.append(lines);
    else {
      const every = toggle("all", true, on => {
        labels.forEach((label, number) => { label.firstChild.checked = on; on ? shown.add(number) : shown.delete(number); });
        refresh();
      });
      controls.append(make("details", {}, make("summary", {}, `Choose among ${items.length} lines`), every, " ", lines));
    }
    controls.append(toggle("each seed", true, on => { withSeeds = on; refresh(); }));
    refresh = () => view.replaceChildren(curves(items, mode.value, shown, withSeeds, mean, say));
    said.textContent = place.dataset.measure + ". Thick: median of the seeds that learned; thin: each seed; dashed: another panel. Point at a mark, or use the arrow keys.";
  }
  place.append(controls, said, view);
  refresh();
}
for (const place of document.querySelectorAll(".explorer")) {
  const details = place.closest("details");
  if (!details) explore(place);
  else details.addEventListener("toggle", () => { if (details.open && !place.firstChild) explore(place); });
}

// -- training curves of the seeds of one experiment --

const training = data("curves");
if (training) {
  const place = document.getElementById("training-curves"), view = make("div"), said = saying();
  const options = names => names.map(name => make("option", {value: name}, name));
  const [runLabel, run] = choice("Runs", Object.keys(training).map(name => [name, name]), () => fill());
  const [label, which] = choice("Curve", [], () => refresh());
  const fill = () => {
    const before = which.value, names = Object.keys(training[run.value]).sort((a, b) => (b === "train_loss") - (a === "train_loss"));
    which.replaceChildren(...options(names));
    if (names.includes(before)) which.value = before;
    refresh();
  };
  const refresh = () => {
    const lines = training[run.value][which.value].map(([seed, points], number) => ({color: COLORS[number % COLORS.length], thin: number > 0,
      points: points.map(([step, value]) => [step, value, `seed ${seed}, step ${step}: ${value}`])})).reverse();
    const [first, ...others] = training[run.value][which.value].map(([seed]) => seed);
    said.textContent = `Thick: seed ${first}` + (others.length ? `; thin: seeds ${others.join(", ")}` : "")
      + ". Point at a mark, or use the arrow keys.";
    view.replaceChildren(plot(lines, which.value + " by step", false, false, text => { said.textContent = text; }));
  };
  place.append(make("p", {}, runLabel, " ", label), said, view);
  fill();
}

// -- attention --

function look(place, stored, said) {
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
  const all = make("div", {class: "heads"}, ...small);
  all.style.gridTemplateColumns = `repeat(${heads}, minmax(0, 8rem))`;
  place.replaceChildren(make("p", {}, exampleLabel), all, said, make("div", {class: "wide"}, canvas));
  refresh(true);
  return refresh;
}
const maps = data("attention-maps");
if (maps) {
  const viewer = document.getElementById("attention-viewer"), view = make("div");
  let refresh;
  const [label, which] = choice("Run", Object.keys(maps).map(name => [name, name]), () => open());
  const open = () => { refresh = look(view, maps[which.value], saying()); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh());
  viewer.append(make("p", {}, label), view);
  open();
}
})();
