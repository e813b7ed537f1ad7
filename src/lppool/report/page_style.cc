#include "lppool/report/page.h"

namespace lppool::report {

std::string_view page_style() {
  return R"(:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1a2230;--soft:#566070;--rule:#dde1e7;--accent:#1f5fbf;--bar:#5b8def;--code:#eef1f5;--err:#b3261e;--warn:#8a5a00;--note:#1f5fbf;--in:#dcecff;--in-line:#7aa7e0;--mark:#fff1d6}
@media (prefers-color-scheme:dark){:root{--bg:#0f1318;--card:#161b22;--ink:#e7ebf1;--soft:#a3adba;--rule:#2c3440;--accent:#7db1ff;--bar:#4f7fd9;--code:#212833;--err:#ff8a80;--warn:#f0b95a;--note:#7db1ff;--in:#1d3554;--in-line:#4f7fb8;--mark:#4a3410}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:4.5rem}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
main,header{max-width:1120px;margin:0 auto;padding:0 16px}
header{padding-top:20px}
h1.name{font-size:1.35rem;line-height:1.25;margin:0}
h2{font-size:1.15rem;margin:0;display:inline}
h3{font-size:1rem;margin:1.2em 0 .4em}
h4{font-size:.95rem;margin:.9em 0 .3em}
p{margin:.4em 0}
.sub,.note,figcaption,caption{color:var(--soft);font-size:.87rem}
code,.name{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.9em;unicode-bidi:isolate}
a{color:var(--accent)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:16px 0;padding:0}
.facts div{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:8px 12px}
.facts dt{color:var(--soft);font-size:.82rem}
.facts dd{margin:0;font-weight:600}
.part{background:var(--card);border:1px solid var(--rule);border-radius:8px;margin:14px 0;padding:0 14px}
.part>summary{padding:10px 0;cursor:pointer}
.part[open]>summary{border-bottom:1px solid var(--rule);margin-bottom:10px}
.part>:last-child{margin-bottom:14px}
summary:focus-visible,a:focus-visible,button:focus-visible,input:focus-visible,[tabindex]:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.scroll{overflow:auto;max-width:100%}
table{border-collapse:collapse}
.list{width:100%;font-size:.9rem}
.list th{text-align:left;color:var(--soft);font-weight:500;padding:3px 10px 3px 0;border-bottom:1px solid var(--rule);white-space:nowrap}
.list td{padding:3px 10px 3px 0;border-bottom:1px solid var(--rule);vertical-align:top;max-width:26em;overflow-wrap:break-word}
.list.slim{width:auto;min-width:50%}
.list .num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.list tr:last-child td{border-bottom:0}
.bar{min-width:90px}
.bar i{display:block;height:.7em;margin-top:.4em;background:var(--bar);border-radius:2px}
.picture{max-height:80vh;border:1px solid var(--rule);border-radius:6px;text-align:center}
.picture svg{display:block;margin:0 auto}
.findings{list-style:none;margin:0;padding:0}
.findings li{padding:6px 0;border-bottom:1px solid var(--rule)}
.findings li:last-child{border-bottom:0}
.badge{display:inline-block;border:1px solid currentColor;border-radius:4px;padding:0 6px;font-size:.8rem;font-weight:600}
.error{color:var(--err)}.warning{color:var(--warn)}.hint,.noteb{color:var(--note)}
.alarm{border-left:4px solid var(--warn);padding:6px 12px;background:var(--card);margin:12px 0}
.tools{position:sticky;top:0;background:var(--card);display:flex;flex-wrap:wrap;gap:8px;align-items:center;padding:8px 0;z-index:1}
.tools[hidden]{display:none}
.tools input{flex:1 1 180px;min-width:0;font:inherit;padding:6px 10px;border:1px solid var(--rule);border-radius:6px;background:var(--bg);color:var(--ink)}
.tools button{font:inherit;padding:6px 10px;border:1px solid var(--rule);border-radius:6px;background:var(--code);color:var(--ink);cursor:pointer}
.node{border-top:1px solid var(--rule)}
.node>summary{padding:7px 0;cursor:pointer;display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline}
.node>summary::before{content:"▸";color:var(--soft);flex:none;width:1em;transition:none}
.node[open]>summary::before{content:"▾"}
.node>summary::-webkit-details-marker{display:none}
.node>summary{list-style:none}
.node>summary b.lp{background:var(--mark);padding:0 4px;border-radius:3px}
.node>summary .no{color:var(--soft);min-width:2.2em;text-align:right;font-variant-numeric:tabular-nums}
.node>summary .time{margin-left:auto;color:var(--soft);white-space:nowrap;font-variant-numeric:tabular-nums}
.node>div{padding:0 0 14px 1.6em}
.node[hidden]{display:none}
.tensor{border:1px solid var(--rule);border-radius:6px;padding:8px 12px;margin:8px 0}
.stats{display:flex;flex-wrap:wrap;gap:2px 16px;margin:4px 0;font-size:.87rem}
.stats div{white-space:nowrap}.stats dt,.stats dd{display:inline;margin:0}.stats dt{color:var(--soft)}
.stats .bad{color:var(--err);font-weight:600}
.charts{display:flex;flex-wrap:wrap;gap:10px 28px;align-items:flex-start}
figure{margin:6px 0;max-width:100%}
.hist{width:260px}
.hist svg{display:block;width:100%;border-bottom:1px solid var(--soft)}
.hist path{fill:var(--bar)}
.hist figcaption{font-size:.78rem;display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 8px;white-space:nowrap}
.heat img{display:block;max-width:100%;height:auto;image-rendering:pixelated}
.heat figcaption{max-width:340px}
.key{display:inline-block;width:60px;height:.7em;vertical-align:baseline;-webkit-print-color-adjust:exact;print-color-adjust:exact}
.ramp{background:linear-gradient(90deg,#440154,#3b528b,#21918c,#5ec962,#fde725)}
.signed{background:linear-gradient(90deg,#053061,#4393c3,#f7f7f7,#d6604d,#67001f)}
.dot{display:inline-block;width:.7em;height:.7em}.dot.nan{background:#ff00c8}.dot.inf{background:#ff8c00}
.slices{display:flex;gap:16px}
.cells td{border:1px solid var(--rule);min-width:58px;height:34px;padding:2px 6px;text-align:center;font-size:.85rem;font-variant-numeric:tabular-nums;white-space:nowrap;overflow-wrap:normal}
.cells .in{background:var(--in);border-color:var(--in-line)}
.cells .pad{color:var(--soft);font-style:italic;border-style:dashed;background:repeating-linear-gradient(45deg,transparent 0 5px,var(--code) 5px 8px)}
.cells .skip{color:var(--soft);border-style:dotted}
.formula{font-size:.95rem;line-height:1.7}
footer{color:var(--soft);font-size:.85rem;max-width:1120px;margin:0 auto;padding:4px 16px 24px}
@media (max-width:600px){.bar{display:none}.list td,.list th{padding-right:6px}.node>div{padding-left:0}.part{padding:0 10px}main,header{padding-left:10px;padding-right:10px}}
@media print{:root{color-scheme:light;--bg:#fff;--card:#fff;--ink:#000;--soft:#444;--rule:#ccc;--accent:#000;--code:#eee;--in:#dcecff;--in-line:#7aa7e0;--mark:#fff1d6;--err:#b3261e;--warn:#8a5a00;--note:#1f5fbf;--bar:#5b8def}html,body{font-size:12px}.tools{display:none}.picture{max-height:none;overflow:visible;border:0}.picture svg{max-width:100%;height:auto}.scroll{overflow:visible}.tensor,.facts div,.findings li,tr{break-inside:avoid}.part{border:0;padding:0}a{text-decoration:none}.bar i,.hist path,.in{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
)";
}

// Without this script the page only lacks the search line. A change here needs a new hash below; the test of the command line
// compares them, and a browser would refuse to run it.
std::string_view page_script() {
  return R"((function () {
  'use strict';
  var tools = document.getElementById('tools'), search = document.getElementById('search'), count = document.getElementById('count');
  function open(target) {
    for (var e = target; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  }
  function follow() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (target) { target.hidden = false; open(target); target.scrollIntoView(); }
  }
  addEventListener('hashchange', follow);
  follow();
  if (!tools) return;
  tools.hidden = false;
  var nodes = Array.prototype.slice.call(document.querySelectorAll('.node'));
  var texts = nodes.map(function (n) { return (n.textContent || '').toLowerCase(); });
  function matches() { return nodes.filter(function (n) { return !n.hidden; }); }
  function filter() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    nodes.forEach(function (n, i) {
      n.hidden = !words.every(function (w) { return texts[i].indexOf(w) >= 0; });
    });
    count.textContent = words.length ? matches().length + ' of ' + nodes.length : '';
  }
  search.addEventListener('input', filter);
  search.addEventListener('keydown', function (e) {
    if (e.key === 'Escape') { search.value = ''; filter(); }
    var first = e.key === 'Enter' && matches()[0];
    if (first) { e.preventDefault(); open(first); first.querySelector('summary').focus(); }
  });
  document.addEventListener('keydown', function (e) {
    if (e.key === '/' && document.activeElement !== search && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      open(tools);
      search.focus();
    }
  });
  document.getElementById('open').addEventListener('click', function () { matches().forEach(function (n) { n.open = true; }); });
  document.getElementById('close').addEventListener('click', function () { nodes.forEach(function (n) { n.open = false; }); });
})();
)";
}

std::string_view page_script_hash() { return "yASrCdhwgA22Ya/mtx98yYpPMsZOSdWLBPSFdg0KPjU="; }

}  // namespace lppool::report
