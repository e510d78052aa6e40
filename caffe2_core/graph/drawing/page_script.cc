// The script of the page. It reads the nodes and edges from the element "data", and writes text only
// by textContent, so that names in nets cannot become markup.
#include "caffe2_core/graph/drawing/page.h"

namespace caffe2rt {

const char kPageScript[] = R"js(
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const view = $("view"), svg = view.querySelector("svg"), details = $("details");
const size = {w: svg.viewBox.baseVal.width, h: svg.viewBox.baseVal.height};
svg.removeAttribute("width");
svg.removeAttribute("height");

// --- Zoom and movement: the part of the image that is visible, in px of the image ---
let scale = 1, left = 0, top = 0;
const paneWidth = () => view.clientWidth || 1, paneHeight = () => view.clientHeight || 1;
function show() {
  svg.setAttribute("viewBox",
    [left, top, paneWidth() / scale, paneHeight() / scale].join(" "));
  $("scale").textContent = Math.round(scale * 100) + " %";
}
function clamp() {
  const w = paneWidth() / scale, h = paneHeight() / scale;
  left = w >= size.w ? (size.w - w) / 2 : Math.min(Math.max(left, 0), size.w - w);
  top = h >= size.h ? 0 : Math.min(Math.max(top, 0), size.h - h);
}
function zoomAt(factor, x, y) {
  const next = Math.min(Math.max(scale * factor, 0.01), 8);
  left += x / scale - x / next;
  top += y / scale - y / next;
  scale = next;
  clamp();
  show();
}
function zoom(factor) { zoomAt(factor, paneWidth() / 2, paneHeight() / 2); }
function moveBy(x, y) { left += x / scale; top += y / scale; clamp(); show(); }
function fit() {
  scale = Math.min(paneWidth() / size.w, paneHeight() / size.h, 1);
  clamp();
  show();
}
function boxOf(index) {
  const box = $("n" + index).querySelector(".box");
  return ["x", "y", "width", "height"].map((name) => parseFloat(box.getAttribute(name)));
}
function centerOn(index) {
  const [x, y, w, h] = boxOf(index);
  if (scale < 0.5) scale = 1;
  left = x + w / 2 - paneWidth() / scale / 2;
  top = y + h / 2 - paneHeight() / scale / 2;
  clamp();
  show();
}

// --- Search ---
const texts = data.nodes.map((node) => {
  const words = [node.title, node.name];
  for (const list of [node.inputs, node.outputs, node.others, node.lines])
    for (const pair of list || []) words.push(pair[0]);
  for (const pair of node.others || []) words.push(pair[1]);
  return words.filter(Boolean).join("\n").toLowerCase();
});
let hits = [], at = -1;
function mark(index, name, on) { $("n" + index).classList.toggle(name, on); }
function goTo(position) {
  if (at >= 0) mark(hits[at], "current", false);
  at = hits.length === 0 ? -1 : (position + hits.length) % hits.length;
  if (at >= 0) { mark(hits[at], "current", true); centerOn(hits[at]); }
  $("count").textContent = $("query").value === "" ? "" :
    hits.length === 0 ? "no hits" : (at + 1) + " of " + hits.length;
}
function search() {
  if (at >= 0) mark(hits[at], "current", false);
  for (const index of hits) mark(index, "hit", false);
  at = -1;
  const query = $("query").value.trim().toLowerCase();
  hits = [];
  if (query !== "") {
    // Nodes that begin or end a blob of this very name come first.
    const exact = [], others = [];
    texts.forEach((text, index) => {
      if (text.includes(query))
        (text.split("\n").includes(query) ? exact : others).push(index);
    });
    hits = exact.concat(others);
  }
  for (const index of hits) mark(index, "hit", true);
  goTo(0);
}

// --- Details ---
function element(name, text, parent) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
function table(title, rows) {
  if (rows.length === 0) return;
  element("h3", title, details);
  const body = element("tbody", undefined, element("table", undefined, details));
  for (const [name, value, target] of rows) {
    const row = element("tr", undefined, body), cell = element("td", undefined, row);
    if (target === undefined) {
      cell.textContent = name;
    } else {
      element("a", name, cell).addEventListener("click", () => { choose(target); centerOn(target); });
    }
    element("td", value, row);
  }
}
let chosen = -1;
function choose(index) {
  if (chosen >= 0) mark(chosen, "chosen", false);
  for (const edge of svg.querySelectorAll(".lit")) edge.classList.remove("lit");
  chosen = index;
  details.hidden = index < 0;
  details.replaceChildren();
  if (index >= 0) describe(index);
  clamp();
  show();
}
function neighbors(index, end) {
  const rows = [];
  data.edges.forEach((edge, position) => {
    if (edge[end] !== index) return;
    $("e" + position).classList.add("lit");
    const other = edge[1 - end];
    rows.push([edge[2], data.nodes[other].title, other]);
  });
  return rows;
}
function describe(index) {
  const node = data.nodes[index];
  mark(index, "chosen", true);
  const close = element("button", "\u00d7", details);
  close.className = "close";
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => choose(-1));
  element("h2", node.title, details);
  const facts = [];
  if (node.kind !== "operator") facts.push(["kind", node.kind]);
  if (node.net) facts.push(["net", node.net]);
  if (node.position !== undefined) facts.push(["position", String(node.position)]);
  for (const name of ["name", "engine", "problem"]) if (node[name]) facts.push([name, node[name]]);
  for (const name of ["parameters", "multiply_adds", "output_bytes"])
    if (node[name]) facts.push([name.replace("_", " "), node[name].toLocaleString("en-US")]);
  table("Facts", facts);
  table("Arguments", node.arguments || []);
  table("Inputs", node.inputs || []);
  table("Outputs", node.outputs || []);
  if (node.lines) table("Blobs", node.lines);
  table("Reads from", neighbors(index, 1));
  table("Read by", neighbors(index, 0));
  if (node.others) table("Stands for " + node.others.length + " operators", node.others);
}

// --- Events ---
$("query").addEventListener("input", search);
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  goTo(at + 1);
  if (at >= 0) choose(hits[at]);
});
$("previous").addEventListener("click", () => goTo(at - 1));
$("in").addEventListener("click", () => zoom(1.25));
$("out").addEventListener("click", () => zoom(0.8));
$("whole").addEventListener("click", fit);
$("actual").addEventListener("click", () => zoom(1 / scale));
view.addEventListener("wheel", (event) => {
  event.preventDefault();
  const pane = view.getBoundingClientRect();
  const lines = event.deltaMode === 1 ? 30 : 1;
  zoomAt(Math.exp(-event.deltaY * lines * 0.0015), event.clientX - pane.left, event.clientY - pane.top);
}, {passive: false});
let drag = null;
view.addEventListener("pointerdown", (event) => {
  if (event.button === 0) drag = {x: event.clientX, y: event.clientY, far: 0, id: event.pointerId};
});
view.addEventListener("pointermove", (event) => {
  if (drag === null || event.pointerId !== drag.id) return;
  const x = event.clientX - drag.x, y = event.clientY - drag.y;
  if (drag.far === 0 && Math.hypot(x, y) < 4) return;
  if (drag.far === 0) { view.setPointerCapture(drag.id); view.classList.add("dragging"); }
  Object.assign(drag, {x: event.clientX, y: event.clientY, far: 1});
  moveBy(-x, -y);
});
let dragged = false;
function endDrag() {
  dragged = drag !== null && drag.far > 0;
  drag = null;
  view.classList.remove("dragging");
}
view.addEventListener("pointerup", endDrag);
view.addEventListener("pointercancel", endDrag);
view.addEventListener("click", (event) => {
  if (dragged) return;
  const node = event.target.closest(".node");
  choose(node === null ? -1 : Number(node.id.slice(1)));
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    $("query").value = "";
    search();
    choose(-1);
    view.focus();
  }
  if (event.target.tagName === "INPUT") return;
  const step = 80;
  const actions = {
    "/": () => $("query").focus(), "+": () => zoom(1.25), "=": () => zoom(1.25),
    "-": () => zoom(0.8), "0": () => zoom(1 / scale), "f": fit, "F": fit,
    "n": () => goTo(at + 1), "N": () => goTo(at - 1),
    "ArrowLeft": () => moveBy(-step, 0), "ArrowRight": () => moveBy(step, 0),
    "ArrowUp": () => moveBy(0, -step), "ArrowDown": () => moveBy(0, step),
    "PageUp": () => moveBy(0, -paneHeight() * 0.9), "PageDown": () => moveBy(0, paneHeight() * 0.9),
    "Home": () => moveBy(0, -size.h * scale), "End": () => moveBy(0, size.h * scale)};
  if (actions[event.key] === undefined) return;
  event.preventDefault();
  actions[event.key]();
});
addEventListener("resize", () => { clamp(); show(); });

// The address page.html#conv1 opens the page with a search.
function searchHash() {
  const text = location.hash.slice(1);
  let query = text;
  try { query = decodeURIComponent(text); } catch (error) { /* not encoded */ }
  if (query === "") return;
  $("query").value = query;
  search();
  if (at >= 0) choose(hits[at]);
  if (at >= 0) centerOn(hits[at]);
}
addEventListener("hashchange", searchHash);
// Shows the upper left corner, or else the first node.
if (data.nodes.length > 0) {
  const [x, , w] = boxOf(0);
  if (x + w > paneWidth()) left = x + w / 2 - paneWidth() / 2;
}
clamp();
show();
searchHash();
})();
)js";

}  // namespace caffe2rt
