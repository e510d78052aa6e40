// The script of the page, run by Node on a document that has the elements it uses: what it finds, shows,
// zooms and moves. The view is 400 x 300 px, the image 800 x 1000.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/drawing/page.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::page_script_test {
namespace {

// Four nodes; n0 is not in view at the beginning, as its right end is at 450.
constexpr char kDocument[] = R"js(
"use strict";
const data = {nodes: [
  {kind: "operator", title: "Corr", net: "a", position: 0, name: "c1", engine: "E", problem: "p",
   arguments: [["kernel", "3"]], inputs: [["x", "float [1]"], ["w", "?"]], outputs: [["c", "float [2]"]],
   parameters: 1234567, multiply_adds: 10, output_bytes: 80},
  {kind: "input", title: "x", lines: [["input", ""]]},
  {kind: "operator", title: "Relu", position: 1, arguments: [], inputs: [["c", "?"]],
   outputs: [["r", "?"]], others: [["r0", "relu0"], ["r1", ""]]},
  {kind: "output", title: "y", lines: [["output", ""]]}],
  edges: [[1, 0, "x"], [0, 2, "c"], [2, 3, "r"]]};
const boxes = [[350, 20, 100, 40], [340, 900, 80, 40], [0, 500, 100, 40], [700, 960, 100, 40]];

class Element {
  constructor(name, id) {
    Object.assign(this, {name, id, tagName: name.toUpperCase(), value: "", hidden: true,
      clientWidth: 400, clientHeight: 300, children: [], parts: {}, attributes: {}, listeners: {}});
    const names = this.names = new Set();
    this.classList = {add: (c) => names.add(c), remove: (c) => names.delete(c),
      toggle: (c, on) => on ? names.add(c) : names.delete(c)};
  }
  append(child) { this.children.push(child); }
  replaceChildren() { this.children = []; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.attributes[name]; }
  removeAttribute(name) { delete this.attributes[name]; }
  addEventListener(type, listener, options) {
    this.listeners[type] = listener;
    if (options !== undefined) this.options = options;
  }
  querySelector(selector) { return this.parts[selector]; }
  querySelectorAll() { return this.all.filter((e) => e.names.has("lit")); }
  closest() { return this.names.has("node") ? this : null; }
  getBoundingClientRect() { return {left: 10, top: 20}; }
  setPointerCapture(id) { this.captured = id; }
  focus() { this.focused = true; }
}

// Opens the page with the first nodes and a view of that width; the functions below use it and return
// what is seen.
function open(script, hash, width, count) {
  const byId = {}, windowListeners = {}, documentListeners = {};
  const add = (name, id) => byId[id] = new Element(name, id);
  const nodes = data.nodes.slice(0, count), edges = count > 0 ? data.edges : [];
  for (const id of ["scale", "count", "details", "previous", "in", "out", "whole", "actual"]) add("button", id);
  add("input", "query"); add("form", "search"); add("main", "view");
  add("script", "data").textContent = JSON.stringify({nodes, edges});
  byId.view.clientWidth = width;
  const svg = byId.view.parts.svg = new Element("svg", "svg");
  svg.viewBox = {baseVal: {width: 800, height: 1000}};
  svg.attributes = {width: "800", height: "1000"};
  svg.all = data.edges.map((edge, i) => add("g", "e" + i));
  boxes.forEach(([x, y, width, height], i) => {
    const node = add("g", "n" + i);
    node.names.add("node");
    (node.parts[".box"] = new Element("rect", "")).attributes = {x, y, width, height};
  });
  const document = {getElementById: (id) => byId[id], createElement: (name) => new Element(name, ""),
    addEventListener: (type, listener) => { documentListeners[type] = listener; }};
  const location = {hash};
  new Function("document", "location", "addEventListener", script)(document, location,
    (type, listener) => { windowListeners[type] = listener; });
  const send = (listeners, type, event) => {
    const sent = {preventDefault() { this.prevented = true; }, target: byId.view, ...event};
    listeners[type](sent);
    return sent.prevented === true;
  };
  const marked = (name) => [...data.nodes.keys()].filter((i) => byId["n" + i].names.has(name)).join(",");
  const text = (e) => (e.textContent === undefined ? "" : e.textContent) + e.children.map(text).join("|");
  return {byId, location,
    on: (id, type, event) => send(byId[id].listeners, type, event),
    key: (key, event) => send(documentListeners, "keydown", {key, ...event}),
    window: (type) => send(windowListeners, type, {}),
    view: () => svg.attributes.viewBox, scale: () => byId.scale.textContent,
    sizes: () => [svg.attributes.width, svg.attributes.height].join(),
    search(query) { byId.query.value = query; send(byId.query.listeners, "input", {}); return this.found(); },
    found: () => byId.count.textContent + "; hits " + marked("hit") + "; current " + marked("current"),
    chosen: () => marked("chosen") + " lit " + svg.all.filter((e) => e.names.has("lit")).map((e) => e.id),
    details: () => byId.details.hidden ? "hidden" : byId.details.children.map((e) => e.name + ":" + text(e)).join(" "),
    link(i) {  // the i-th link of the details
      const links = [], walk = (e) => { if (e.name === "a") links.push(e); e.children.forEach(walk); };
      walk(byId.details);
      links[i].listeners.click({});
    },
    click(id) { return send(byId.view.listeners, "click", {target: byId[id]}); },
    pointer(type, x, y, more) {
      send(byId.view.listeners, "pointer" + type, {pointerId: 1, button: 0, clientX: x, clientY: y, ...more});
    }};
}
)js";

struct Scenario {
  const char* what;
  const char* uses;  // of the page `p`; its value is compared as text
  const char* want;
  const char* hash = "";
  int width = 400, nodes = 4;
};

// The left end of the view is chosen so that n0 is in its middle: 400 - 200.
constexpr Scenario kViews[] = {
    {"begins at the first node", "[p.view(), p.scale(), p.sizes()]", "200 0 400 300,100 %,,"},
    {"zooms in around the middle", "[p.on('in', 'click'), p.view(), p.scale()]",
     "false,240 30 320 240,125 %"},
    {"zooms out around the middle", "[p.on('out', 'click'), p.view(), p.scale()]",
     "false,150 0 500 375,80 %"},
    {"shows the whole image",
     "p.on('whole', 'click'); [p.view().split(' ').map((v) => Math.round(v)), p.scale()]",
     "-267,0,1333,1000,30 %"},
    {"returns to the actual size", "[p.key('+'), p.on('actual', 'click'), p.view(), p.scale()]",
     "true,false,200 0 400 300,100 %"},
    {"zooms by keys",
     "['+', '=', '-', '0', 'f', 'F'].map((k) => p.key(k) + ' ' + p.scale()).join()",
     "true 125 %,true 156 %,true 125 %,true 100 %,true 30 %,true 30 %"},
    {"moves by keys",
     "['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowLeft', 'ArrowUp', 'PageDown', 'PageUp', "
     "'End', "
     "'Home'].map((k) => p.key(k) && p.view().split(' ').slice(0, 2).join(' ')).join()",
     "280 0,280 80,200 80,120 80,120 0,120 270,120 0,120 700,120 0"},
    {"moves back by pages", "p.key('PageDown'); p.key('PageDown'); p.key('PageUp'); p.view()",
     "200 270 400 300"},
    {"goes to the ends of an enlarged image",
     "for (let i = 0; i < 20; ++i) p.key('+'); p.key('End'); const end = p.view(); p.key('Home'); "
     "[end, p.view()]",
     "375 962.5 50 37.5,375 0 50 37.5"},
    {"shows the whole width", "p.byId.view.clientHeight = 3000; p.key('f'); p.scale()", "50 %"},
    {"enlarges no image to the size of the view",
     "p.byId.view.clientHeight = 3000; p.byId.view.clientWidth = 2000; p.key('f'); p.scale()",
     "100 %"},
    {"stays within the image",
     "p.key('ArrowRight'); p.key('ArrowRight'); p.key('ArrowRight'); p.key('ArrowUp'); p.view()",
     "400 0 400 300"},
    {"moves less on the image if it is enlarged",
     "p.key('+'); p.key('ArrowRight'); p.key('ArrowDown'); p.view()", "304 94 320 240"},
    {"leaves other keys alone",
     "[p.key('x'), p.key('+', {ctrlKey: true}), p.key('+', {metaKey: true}), p.key('+', {altKey: "
     "true}), p.scale()]",
     "false,false,false,false,100 %"},
    {"leaves keys to the field", "[p.key('+', {target: p.byId.query}), p.scale()]", "false,100 %"},
    {"goes to the field", "[p.key('/'), p.byId.query.focused]", "true,true"},
    // At 110 px of the view, which is at 310 of the image; e^(-0.45) is 0.6376.
    {"zooms by the wheel around the pointer",
     "[p.on('view', 'wheel', {deltaY: 300, deltaMode: 0, clientX: 120, clientY: 220}), p.scale()]",
     "true,64 %"},
    {"counts lines of the wheel",
     "[p.on('view', 'wheel', {deltaY: 10, deltaMode: 1, clientX: 120, clientY: 220}), p.scale()]",
     "true,64 %"},
    {"keeps what is under the pointer",
     "p.key('ArrowDown'); p.key('ArrowDown'); p.key('ArrowDown'); p.on('view', 'wheel', {deltaY: "
     "-300, deltaMode: 0, clientX: 110, clientY: 220}); p.view().split(' ').map((v, i) => "
     "Math.round(i < 2 ? +v + [100, 200][i] * Math.exp(-0.45) : +v)).join()",
     "300,440,255,191"},
    {"zooms to at most 8 times", "for (let i = 0; i < 20; ++i) p.key('+'); p.scale()", "800 %"},
    {"zooms to at least a hundredth", "for (let i = 0; i < 40; ++i) p.key('-'); p.scale()", "1 %"},
    {"centers an image that is narrower than the view",
     "p.byId.view.clientWidth = 1000; p.window('resize'); p.view()", "-100 0 1000 300"},
    {"centers an image that is a bit narrower than the view",
     "p.byId.view.clientWidth = 900; p.window('resize'); p.view()", "-50 0 900 300"},
    {"ends at the end of an image that is a bit higher than the view",
     "p.key('End'); p.byId.view.clientHeight = 900; p.window('resize'); p.view()",
     "200 100 400 900"},
    {"begins at the left if the first node is in view", "p.view()", "0 0 450 300", "", 450},
    {"begins with the first node in the middle otherwise", "p.view()", "175.5 0 449 300", "", 449},
    {"begins in the middle of a wide view", "p.view()", "-100 0 1000 300", "", 1000},
    {"begins with the only node", "p.view()", "200 0 400 300", "", 400, 1},
    {"accepts a page without nodes", "[p.view(), p.search('c')]",
     "0 0 400 300,no hits; hits ; current ", "", 400, 0},
    {"accepts a view that is hidden", "p.byId.view.clientHeight = 0; p.window('resize'); p.view()",
     "399.5 0 1 1", "", 0},
    {"stops the wheel from moving the page", "p.byId.view.options.passive", "false"},
    {"begins at the top of an image that is less high",
     "p.key('End'); p.byId.view.clientHeight = 2000; p.window('resize'); p.view()",
     "200 0 400 2000"},
};

constexpr Scenario kMoves[] = {
    {"follows the pointer",
     "p.pointer('down', 300, 250); p.pointer('move', 280, 200); [p.view(), p.byId.view.captured, "
     "p.byId.view.names.has('dragging')]",
     "220 50 400 300,1,true"},
    {"adds up movements",
     "p.pointer('down', 300, 250); p.pointer('move', 280, 200); p.pointer('move', 270, 150); "
     "p.view()",
     "230 100 400 300"},
    {"does not move by less than 4 px",
     "p.pointer('down', 300, 250); p.pointer('move', 300, 247); [p.view(), p.byId.view.captured]",
     "200 0 400 300,"},
    {"moves by 4 px", "p.pointer('down', 300, 250); p.pointer('move', 300, 246); p.view()",
     "200 4 400 300"},
    {"moves by small steps after the first",
     "p.pointer('down', 300, 250); p.pointer('move', 300, 240); p.pointer('move', 300, 239); "
     "p.view()",
     "200 11 400 300"},
    {"ignores other buttons",
     "p.pointer('down', 300, 250, {button: 1}); p.pointer('move', 280, 200); p.view()",
     "200 0 400 300"},
    {"ignores other pointers",
     "p.pointer('down', 300, 250); p.pointer('move', 280, 200, {pointerId: 2}); p.view()",
     "200 0 400 300"},
    {"ends when the pointer is up",
     "p.pointer('down', 300, 250); p.pointer('move', 280, 200); p.pointer('up', 280, 200); "
     "p.pointer('move', 100, 100); [p.view(), p.byId.view.names.has('dragging')]",
     "220 50 400 300,false"},
    {"ends when the pointer is lost",
     "p.pointer('down', 300, 250); p.pointer('cancel', 0, 0); p.pointer('move', 280, 200); "
     "p.view()",
     "200 0 400 300"},
    {"chooses nothing at the end of a movement",
     "p.pointer('down', 300, 250); p.pointer('move', 280, 200); p.pointer('up', 280, 200); "
     "p.click('n0'); p.chosen()",
     " lit "},
    {"chooses a node without a movement",
     "p.pointer('down', 300, 250); p.pointer('up', 300, 250); p.click('n0'); p.chosen()",
     "0 lit e0,e1"},
    {"divides movements by the scale",
     "p.key('+'); p.pointer('down', 300, 250); p.pointer('move', 290, 200); p.view()",
     "248 70 320 240"},
};

// Nodes 0 and 2 begin or end blob c; node 2 has a blob r, and the title of node 0 contains that letter.
constexpr Scenario kSearches[] = {
    {"finds blobs, and goes to the first", "[p.search('c'), p.view()]",
     "1 of 2; hits 0,2; current 0,200 0 400 300"},
    {"ignores spaces and large letters", "p.search('  CORR ')", "1 of 1; hits 0; current 0"},
    {"puts exact names first", "p.search('r')", "1 of 2; hits 0,2; current 2"},
    {"finds names", "p.search('c1')", "1 of 1; hits 0; current 0"},
    {"finds inputs", "p.search('w')", "1 of 1; hits 0; current 0"},
    {"finds operators that a node stands for", "[p.search('r1'), p.search('relu0')]",
     "1 of 1; hits 2; current 2,1 of 1; hits 2; current 2"},
    {"finds lines", "p.search('put')", "1 of 2; hits 1,3; current 1"},
    {"does not find shapes", "p.search('float')", "no hits; hits ; current "},
    {"finds nothing for nothing", "p.search('c'); [p.search(''), p.search('  ')]",
     "; hits ; current ,no hits; hits ; current "},
    {"forgets the hits of another search", "p.search('c'); p.search('put')",
     "1 of 2; hits 1,3; current 1"},
    {"centers hits", "p.search('relu'); p.view()", "0 370 400 300"},
    {"centers hits within the image", "p.search('output'); p.view()", "400 700 400 300"},
    {"enlarges hits that would be small", "p.key('f'); p.search('relu'); [p.view(), p.scale()]",
     "0 370 400 300,100 %"},
    {"enlarges what is smaller than a half only",
     "const after = (n) => { for (let i = 0; i < n; ++i) p.key('-'); p.search('relu'); const seen "
     "= "
     "p.scale(); p.key('0'); return seen; }; [after(3), after(4)]",
     "51 %,100 %"},
    {"keeps a scale of one half",
     "p.byId.view.clientHeight = 500; p.key('f'); p.search('relu'); p.scale()", "50 %"},
    {"centers hits in an enlarged image",
     "p.key('+'); const first = p.search('c') && p.view(); p.search('relu'); [first, p.view()]",
     "240 0 320 240,0 400 320 240"},
    {"keeps a scale of more than a half", "p.key('-'); p.search('relu'); [p.view(), p.scale()]",
     "0 332.5 500 375,80 %"},
    {"goes on, and from the last to the first",
     "p.search('c'); p.key('n'); const second = p.found(); p.key('n'); [second, p.found()]",
     "2 of 2; hits 0,2; current 2,1 of 2; hits 0,2; current 0"},
    {"goes on and back among three",
     "p.search('u'); const seen = ['n', 'n', 'N', 'N', 'N'].map((k) => p.key(k) && p.found()[0]); "
     "p.on('previous', 'click'); [seen.join(''), p.found()]",
     "23213,2 of 3; hits 1,2,3; current 2"},
    {"goes back, and from the first to the last",
     "p.search('c'); p.key('N'); const last = p.found(); p.on('previous', 'click'); [last, "
     "p.found()]",
     "2 of 2; hits 0,2; current 2,1 of 2; hits 0,2; current 0"},
    {"goes on and chooses when the search is submitted",
     "p.search('c'); [p.on('search', 'submit'), p.found(), p.chosen()]",
     "true,2 of 2; hits 0,2; current 2,2 lit e1,e2"},
    {"chooses the first hit, too",
     "p.search('c'); p.on('search', 'submit'); p.on('search', 'submit'); [p.found(), p.chosen()]",
     "1 of 2; hits 0,2; current 0,0 lit e0,e1"},
    {"goes on to the second of three when the search is submitted",
     "p.search('u'); p.on('search', 'submit'); [p.found(), p.chosen()]",
     "2 of 3; hits 1,2,3; current 2,2 lit e1,e2"},
    {"submits a search that finds nothing",
     "p.search('zzz'); [p.on('search', 'submit'), p.found(), p.details()]",
     "true,no hits; hits ; current ,hidden"},
    {"ends by Escape",
     "p.search('c'); p.click('n0'); [p.key('Escape'), p.found(), p.byId.query.value, p.details(), "
     "p.byId.view.focused]",
     "false,; hits ; current ,,hidden,true"},
    {"ends by Escape in the field",
     "p.search('c'); [p.key('Escape', {target: p.byId.query}), p.found()]",
     "false,; hits ; current "},
    {"searches for the text in the address",
     "[p.found(), p.byId.query.value, p.chosen(), p.view()]",
     "1 of 1; hits 2; current 2,relu,2 lit e1,e2,0 370 400 300", "#relu"},
    {"chooses nothing for an address that is not found", "[p.found(), p.chosen(), p.details()]",
     "no hits; hits ; current , lit ,hidden", "#zzz"},
    {"centers the node of the address beside its details",
     "Object.defineProperty(p.byId.view, 'clientWidth', {get: () => p.byId.details.hidden ? 400 : "
     "200}); p.location.hash = '#input'; p.window('hashchange'); p.view()",
     "280 700 200 300"},
    {"decodes the address", "p.byId.query.value", "a b", "#a%20b"},
    {"accepts an address that is not encoded", "p.byId.query.value", "50%", "#50%"},
    {"searches when the address changes",
     "p.location.hash = '#output'; p.window('hashchange'); p.found()", "1 of 1; hits 3; current 3"},
    {"does nothing for an empty address",
     "p.search('c'); p.window('hashchange'); [p.found(), p.chosen()]",
     "1 of 2; hits 0,2; current 0, lit "},
};

constexpr Scenario kDetails[] = {
    {"are hidden at first", "p.details()", "hidden"},
    {"of an operator", "p.click('n0'); p.details()",
     "button:\xC3\x97 h2:Corr h3:Facts "
     "table:net|a|position|0|name|c1|engine|E|problem|p|parameters|"
     "1,234,567|multiply adds|10|output bytes|80 h3:Arguments table:kernel|3 h3:Inputs "
     "table:x|float [1]|w|? h3:Outputs table:c|float [2] h3:Reads from table:x|x h3:Read by "
     "table:c|Relu"},
    {"of an operator that stands for several", "p.click('n2'); p.details()",
     "button:\xC3\x97 h2:Relu h3:Facts table:position|1 h3:Inputs table:c|? h3:Outputs table:r|? "
     "h3:Reads from table:c|Corr h3:Read by table:r|y h3:Stands for 2 operators "
     "table:r0|relu0|r1|"},
    {"of an input", "p.click('n1'); p.details()",
     "button:\xC3\x97 h2:x h3:Facts table:kind|input h3:Blobs table:input| h3:Read by "
     "table:x|Corr"},
    {"of an output", "p.click('n3'); p.details()",
     "button:\xC3\x97 h2:y h3:Facts table:kind|output h3:Blobs table:output| h3:Reads from "
     "table:r|Relu"},
    {"replace those of another node", "p.click('n0'); p.click('n3'); p.details()",
     "button:\xC3\x97 h2:y h3:Facts table:kind|output h3:Blobs table:output| h3:Reads from "
     "table:r|Relu"},
    {"leave less room for the image", "p.byId.view.clientWidth = 300; p.click('n0'); p.view()",
     "200 0 300 300"},
    {"keep the image in what room there is",
     "p.key('ArrowRight'); p.key('ArrowRight'); p.key('ArrowRight'); p.byId.view.clientWidth = "
     "500; "
     "p.click('n0'); p.view()",
     "300 0 500 300"},
    {"light the arrows of the node", "p.click('n2'); p.chosen()", "2 lit e1,e2"},
    {"leave the node before", "p.click('n0'); p.click('n3'); p.chosen()", "3 lit e2"},
    {"close beside the nodes", "p.click('n0'); p.click('e0'); [p.details(), p.chosen()]",
     "hidden, lit "},
    {"close by their button",
     "p.click('n0'); const close = p.byId.details.children[0]; const label = "
     "close.attributes['aria-label']; close.listeners.click({}); [label, close.className, "
     "p.details(), p.chosen()]",
     "Close,close,hidden, lit "},
    {"lead to what a node reads from", "p.click('n2'); p.link(0); [p.chosen(), p.view()]",
     "0 lit e0,e1,200 0 400 300"},
    {"lead to what reads a node", "p.click('n0'); p.link(1); [p.chosen(), p.view()]",
     "2 lit e1,e2,0 370 400 300"},
};

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return quoted + "\"";
}

// Whether there is Node. Its output, a line for each scenario, goes to `lines`.
bool Run(const std::vector<Scenario>& scenarios, std::vector<std::string>* lines) {
  std::string program = std::string(kDocument) + "const script = " + Quoted(kPageScript) + ";\n" +
                        "const run = (hash, width, nodes, use) => { try { console.log(String("
                        "use(open(script, hash, width, nodes)))); } catch (error) { "
                        "console.log(String(error)); } };\n";
  for (const Scenario& scenario : scenarios) {
    std::string uses = scenario.uses;
    const size_t last = uses.rfind("; ");  // of the statements, the value is that of the last one
    uses.insert(last == std::string::npos ? 0 : last + 2, "return ");
    program += MakeString("run(", Quoted(scenario.hash), ", ", scenario.width, ", ", scenario.nodes,
                          ", (p) => { ", uses, " });\n");
  }
  const TempDir dir;
  const std::string command = "node " + dir.Write("page.js", program) + " 2>&1";
  FILE* const node = popen(command.c_str(), "r");
  CAFFE_ENFORCE(node != nullptr, "cannot start a shell");
  std::string text;
  for (int c; (c = std::fgetc(node)) != EOF;) text += static_cast<char>(c);
  const int status = pclose(node);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines->push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return WEXITSTATUS(status) != 127;  // of a shell that does not find the program
}

template <size_t kCount>
void Expect(const Scenario (&rows)[kCount]) {
  std::vector<std::string> lines;
  if (!Run({rows, rows + kCount}, &lines)) GTEST_SKIP() << "needs Node";
  ASSERT_EQ(lines.size(), kCount) << testing::PrintToString(lines);
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(lines[i], rows[i].want) << rows[i].what;
}

TEST(PageScriptTest, ShowsAPartOfTheImage) { Expect(kViews); }
TEST(PageScriptTest, MovesWithThePointer) { Expect(kMoves); }
TEST(PageScriptTest, FindsNodes) { Expect(kSearches); }
TEST(PageScriptTest, ShowsDetails) { Expect(kDetails); }

// The page has one element of each id that the script asks for, and a style for each class that it sets.
TEST(PageScriptTest, FindsItsElementsInThePage) {
  const std::string page = DrawingPage({}, {}, "t", "<svg></svg>"), script = kPageScript;
  std::set<std::string> ids;
  for (size_t at = 0; (at = script.find("$(\"", at)) != std::string::npos;) {
    at += 3;
    const size_t end = script.find('"', at);
    if (script[end + 1] == ')') ids.insert(script.substr(at, end - at));
  }
  EXPECT_THAT(ids, testing::ElementsAre("actual", "count", "details", "in", "out", "previous",
                                        "query", "scale", "search", "view", "whole"));
  ids.insert({"data", "next"});
  for (const std::string& id : ids) {
    const std::string attribute = " id=\"" + id + "\"";
    EXPECT_NE(page.find(attribute), std::string::npos) << id;
    EXPECT_EQ(page.find(attribute), page.rfind(attribute)) << id;
  }
  const std::string style = kPageStyle;
  for (const char* rule :
       {"#view .hit .box{", "#view .current .box{", "#view .chosen .box{", "#view .lit path",
        "#view.dragging{", "#details .close{", "#details[hidden]{display:none}"}) {
    EXPECT_NE(style.find(rule), std::string::npos) << rule;
  }
}

TEST(PageScriptTest, ButtonsHaveTheTextOfWhatTheyDo) {
  const std::string body = kPageBody;
  const struct {
    const char *id, *text;
  } rows[] = {{"previous", "type=\"button\" aria-label=\"Previous hit\">&#8249;<"},
              {"next", "type=\"submit\" aria-label=\"Next hit\">&#8250;<"},
              {"out", "type=\"button\" aria-label=\"Zoom out\">&#8722;<"},
              {"in", "type=\"button\" aria-label=\"Zoom in\">+<"},
              {"whole", "type=\"button\">Fit<"},
              {"actual", "type=\"button\">100 %<"},
              {"count", "><"},
              {"scale", ">100 %<"}};
  for (const auto& row : rows) {
    const std::string id = std::string(" id=\"") + row.id + "\"";
    const size_t at = body.find(id) + id.size();
    const size_t text = body[at] == ' ' ? at + 1 : at;
    EXPECT_EQ(body.compare(text, std::string(row.text).size(), row.text), 0) << row.id;
  }
  // The form sends a search; the buttons beside it are in no form.
  EXPECT_LT(body.find("<form id=\"search\""), body.find(" id=\"query\" type=\"search\""));
  EXPECT_LT(body.find(" id=\"next\""), body.find("</form>"));
  EXPECT_GT(body.find(" id=\"out\""), body.find("</form>"));
}

}  // namespace
}  // namespace caffe2rt::test::page_script_test
