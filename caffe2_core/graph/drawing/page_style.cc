// The style sheet and the fixed elements of the page. In dark mode only the colors around the boxes
// change: the boxes keep their light fills and dark text.
#include "caffe2_core/graph/drawing/page.h"

namespace caffe2rt {

const char kPageStyle[] = R"css(
:root{--paper:#fff;--ink:#1c2128;--soft:#57606a;--line:#c9d1d9;--bar:#f3f5f8;--accent:#0b62c4}
@media (prefers-color-scheme:dark){
:root{--paper:#15181d;--ink:#e6e9ee;--soft:#a3adb8;--line:#3b434e;--bar:#20252c;--accent:#6cb2ff}
#view .paper{fill:#15181d}
#view .header,#view .legend,#view .frame-title{fill:#e6e9ee}
#view .frame-title{stroke:#15181d}
#view .frame rect{fill:#1d2229;stroke:#5a6573}
#view .repeated rect{fill:#2a2718;stroke:#b8a24a}
#view .edge path{stroke:#aab4c0}#view .head{fill:#aab4c0}
#view .edge .halo{stroke:#15181d}
#view .skip0 path:not(.halo){stroke:#56b4e9}#view #skip0 .head{fill:#56b4e9}
#view .skip1 path:not(.halo){stroke:#f0a04b}#view #skip1 .head{fill:#f0a04b}
#view .skip2 path:not(.halo){stroke:#3ecf9e}#view #skip2 .head{fill:#3ecf9e}
#view .skip3 path:not(.halo){stroke:#e69ac9}#view #skip3 .head{fill:#e69ac9}
}
*{box-sizing:border-box}
html,body{height:100%;margin:0}
body{display:flex;flex-direction:column;background:var(--paper);color:var(--ink);
font:14px/1.4 Helvetica,Arial,"DejaVu Sans",sans-serif}
header{display:flex;flex-wrap:wrap;gap:8px 20px;align-items:center;padding:8px 12px;
background:var(--bar);border-bottom:1px solid var(--line)}
form,.zoom{display:flex;gap:6px;align-items:center;margin:0}
input,button{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);
border-radius:6px;padding:4px 10px}
input{width:20em;max-width:60vw}
button{cursor:pointer;min-width:34px}
button:hover{border-color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
#count,#scale{color:var(--soft);min-width:5.5em}
#scale{min-width:3.5em;text-align:right}
.keys{color:var(--soft);font-size:12px}
.middle{flex:1;display:flex;min-height:0}
#view{flex:1;min-width:0;overflow:hidden;cursor:grab;touch-action:none}
#view.dragging{cursor:grabbing}
#view svg{display:block;width:100%;height:100%;user-select:none}
#view .node{cursor:pointer}
#view .hit .box{stroke:#d97706;stroke-width:3;fill:#ffe9a8}
#view .current .box{stroke:#c2410c;stroke-width:4;fill:#ffd24d}
#view .chosen .box{stroke:#0b62c4;stroke-width:4}
#view .lit path:not(.halo):not(.head){stroke:var(--accent);stroke-width:3}
#details{width:380px;max-width:45vw;overflow:auto;border-left:1px solid var(--line);
background:var(--bar);padding:12px 14px}
#details[hidden]{display:none}
#details h2{margin:0 30px 4px 0;font-size:17px;overflow-wrap:anywhere}
#details h3{margin:14px 0 4px;font-size:13px;color:var(--soft)}
#details table{border-collapse:collapse;width:100%}
#details td{padding:2px 8px 2px 0;vertical-align:top;overflow-wrap:anywhere;
border-bottom:1px solid var(--line)}
#details td:first-child{width:42%}
#details .close{float:right;min-width:0}
a{color:var(--accent);cursor:pointer;text-decoration:underline}
)css";

const char kPageBody[] = R"html(<header>
<form id="search" role="search"><input id="query" type="search" autocomplete="off" spellcheck="false"
placeholder="Search operators and blobs" aria-label="Search operators and blobs"
><button id="previous" type="button" aria-label="Previous hit">&#8249;</button
><button id="next" type="submit" aria-label="Next hit">&#8250;</button
><output id="count"></output></form>
<div class="zoom"><button id="out" type="button" aria-label="Zoom out">&#8722;</button
><output id="scale">100 %</output><button id="in" type="button" aria-label="Zoom in">+</button
><button id="whole" type="button">Fit</button><button id="actual" type="button">100 %</button></div>
<span class="keys">Keys: / search, Enter next hit, + and &#8722; zoom, 0 actual size, F fit, arrows move,
Esc clear. Drag to move, turn the wheel to zoom, click an operator for its details.</span>
</header>
<div class="middle">
)html";

}  // namespace caffe2rt
