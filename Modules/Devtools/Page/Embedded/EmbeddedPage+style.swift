// Made by Scripts/devtools-page.
// swift-format-ignore-file
#if SwiftOperationDevtools
extension EmbeddedPage {
  static let style = ##"""
/* Colours: each pair of text and ground has a contrast of at least 4.5. */
:root {
  color-scheme: light;
  --ground: #f4f5f8;
  --pane: #ffffff;
  --raised: #f7f8fb;
  --line: #e2e5ec;
  --text: #1b2030;
  --soft: #586176;
  --accent: #4338ca;
  --accent-ground: #e8e8fd;
  --good: #12805c;
  --busy: #1d63d1;
  --wait: #9a5b00;
  --bad: #c1272d;
  --idle: #6b7488;
  --bad-ground: #fdecec;
  --wait-ground: #fdf2dc;
  --busy-ground: #e6effd;
  --shadow: 0 1px 2px #1b203014, 0 4px 16px #1b20300d;
  --cause-call: #2f6fdd;
  --cause-subscriber: #0d9488;
  --cause-invalidation: #d97706;
  --cause-polling: #8b5cf6;
  --cause-condition: #4d9221;
  --cause-source: #c2417c;
  --cause-refresh: #0891b2;
  --cause-devtools: #b4232a;
  --cause-other: #7a8396;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
:root[data-theme="dark"] {
  color-scheme: dark;
  --ground: #0e1117;
  --pane: #161a23;
  --raised: #1c212c;
  --line: #2a3040;
  --text: #e6e9f2;
  --soft: #9aa4ba;
  --accent: #a5a8ff;
  --accent-ground: #282c56;
  --good: #4cc9a0;
  --busy: #79aefc;
  --wait: #f0b557;
  --bad: #ff8a8a;
  --idle: #8b95aa;
  --bad-ground: #3d1d22;
  --wait-ground: #392c14;
  --busy-ground: #182b4b;
  --shadow: 0 1px 2px #0006, 0 4px 20px #0004;
  --cause-call: #5b93f5;
  --cause-subscriber: #2dbdae;
  --cause-invalidation: #f0a13a;
  --cause-polling: #a78bfa;
  --cause-condition: #84c65a;
  --cause-source: #ea76ae;
  --cause-refresh: #38bdf8;
  --cause-devtools: #f87171;
  --cause-other: #8b95aa;
}
* { box-sizing: border-box; }
html { height: 100%; }
body { height: 100dvh; margin: 0; overflow: hidden; }
body {
  display: grid;
  grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr);
  background: var(--ground);
  color: var(--text);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
}
h1, h2, h3, p, dl, dd { margin: 0; }
h1 { font-size: 15px; font-weight: 650; display: flex; align-items: center; gap: 8px; white-space: nowrap; }
h2 { font-size: 13px; font-weight: 650; white-space: nowrap; }
button, input, select, textarea { font: inherit; color: inherit; }
button, select, input[type="search"], textarea {
  background: var(--pane);
  border: 1px solid var(--line);
  border-radius: 7px;
  padding: 4px 10px;
}
button { cursor: pointer; min-height: 30px; white-space: nowrap; }
button:hover:not(:disabled) { background: var(--raised); border-color: var(--soft); }
button:disabled { color: var(--soft); cursor: default; }
button[aria-pressed="true"] { background: var(--accent-ground); color: var(--accent); border-color: transparent; }
button.danger { color: var(--bad); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.skip { position: absolute; left: -9999px; }
.skip:focus { left: 8px; top: 8px; z-index: 9; background: var(--pane); padding: 6px 10px; }
[hidden] { display: none !important; }

.bar {
  display: flex; align-items: center; gap: 6px 16px;
  padding: 8px 14px; background: var(--pane); border-bottom: 1px solid var(--line);
}
.mark {
  width: 18px; height: 18px; border-radius: 6px;
  background: conic-gradient(from 210deg, var(--cause-polling), var(--cause-call), var(--cause-subscriber), var(--cause-polling));
}
.program {
  color: var(--soft); font-family: var(--mono); font-size: 12.5px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis;
}
.connection { display: inline-flex; align-items: center; gap: 6px; font-size: 12.5px; color: var(--soft); white-space: nowrap; }
.connection::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--idle); }
.connection[data-state="live"]::before { background: var(--good); box-shadow: 0 0 0 3px color-mix(in srgb, var(--good) 25%, transparent); }
.connection[data-state="lost"]::before { background: var(--bad); }
.connection[data-state="recording"]::before { background: var(--wait); }
.counts { display: flex; gap: 2px 16px; margin-left: auto; flex: none; }
.counts div { display: flex; gap: 5px; align-items: baseline; white-space: nowrap; }
.counts dd { font-weight: 650; font-variant-numeric: tabular-nums; min-width: 1ch; }
.counts dt { order: 2; color: var(--soft); font-size: 12.5px; }
.counts [data-tone="bad"] dd { color: var(--bad); }
.counts [data-tone="busy"] dd { color: var(--busy); }
.counts [data-tone="wait"] dd { color: var(--wait); }
.tools { display: flex; gap: 6px; }

main {
  display: grid; padding: 10px; min-height: 0;
  grid-template: minmax(0, 1fr) 10px minmax(120px, var(--split-rows, 36%)) / minmax(0, var(--split-columns, 54%)) 10px minmax(0, 1fr);
  grid-template-areas: "stores columns details" "rows rows rows" "timeline timeline timeline";
}
#split-columns { grid-area: columns; cursor: col-resize; }
#split-rows { grid-area: rows; cursor: row-resize; }
.splitter { border-radius: 5px; touch-action: none; }
.splitter:hover, .splitter:active { background: var(--line); }
#stores { grid-area: stores; }
#details { grid-area: details; }
#timeline { grid-area: timeline; }
.pane {
  display: flex; flex-direction: column; min-width: 0; min-height: 0; overflow: hidden;
  background: var(--pane); border: 1px solid var(--line); border-radius: 11px; box-shadow: var(--shadow);
}
.pane-head { display: flex; align-items: center; gap: 8px 12px; padding: 8px 12px; flex-wrap: wrap; }
.pane-head input[type="search"] { flex: 1 1 160px; min-width: 0; }
.select { color: var(--soft); font-size: 12.5px; display: flex; gap: 6px; align-items: center; }
.chips { display: flex; gap: 6px; padding: 0 12px 8px; overflow-x: auto; }
.chips button { border-radius: 99px; padding: 1px 11px; min-height: 26px; font-size: 12.5px; }
.chips button b { font-variant-numeric: tabular-nums; font-weight: 600; }
.empty { padding: 28px 20px; color: var(--soft); text-align: center; }

.tree { flex: 1; overflow: auto; position: relative; border-top: 1px solid var(--line); outline-offset: -2px; }
.tree-head, .row {
  display: grid; align-items: center; column-gap: 10px; padding: 0 12px;
  grid-template-columns: minmax(0, 1fr) 112px 56px 52px 58px 58px;
}
.tree-head {
  position: sticky; top: 0; z-index: 2; height: 26px; background: var(--raised); border-bottom: 1px solid var(--line);
  font-size: 11.5px; color: var(--soft);
}
.num { text-align: right; font-variant-numeric: tabular-nums; }
.rows { position: relative; }
.row { position: absolute; left: 0; right: 0; height: 28px; cursor: default; white-space: nowrap; }
.row:hover { background: var(--raised); }
.row[aria-selected="true"] { background: var(--accent-ground); }
.tree:focus-visible .row[data-focus] { box-shadow: inset 0 0 0 2px var(--accent); }
.row .num { color: var(--soft); font-size: 12.5px; }
.row .num.hot { color: var(--text); }
.row .num.bad { color: var(--bad); font-weight: 600; }
.cell-path { display: flex; align-items: baseline; gap: 6px; min-width: 0; padding-left: calc(var(--level) * 16px); }
.cell-path .label { font-family: var(--mono); font-size: 12.5px; overflow: hidden; text-overflow: ellipsis; }
.cell-path .operation { color: var(--soft); font-size: 12px; overflow: hidden; text-overflow: ellipsis; flex: 0 9 auto; }
.twist { width: 16px; flex: none; text-align: center; color: var(--soft); font-size: 10px; transition: rotate 0.12s; cursor: pointer; }
.row[aria-expanded="true"] .twist { rotate: 90deg; }
.badge {
  border-radius: 99px; padding: 0 7px; font-size: 11px; line-height: 17px; background: var(--raised); color: var(--soft);
  border: 1px solid var(--line); flex: none;
}
.state { display: inline-flex; align-items: center; gap: 6px; font-size: 12.5px; color: var(--soft); overflow: hidden; }
.state::before { content: ""; flex: none; width: 9px; height: 9px; border-radius: 50%; background: var(--idle); }
.state[data-tone="good"]::before { background: var(--good); }
.state[data-tone="stale"]::before { background: transparent; border: 2px solid var(--good); }
.state[data-tone="idle"]::before { background: transparent; border: 2px solid var(--idle); }
.state[data-tone="busy"] { color: var(--busy); }
.state[data-tone="busy"]::before { background: var(--busy); animation: pulse 1s infinite alternate; }
.state[data-tone="wait"] { color: var(--wait); }
.state[data-tone="wait"]::before { background: var(--wait); border-radius: 2px; }
.state[data-tone="bad"] { color: var(--bad); }
.state[data-tone="bad"]::before { background: var(--bad); border-radius: 0; rotate: 45deg; }
@keyframes pulse { from { opacity: 0.35; } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }

.actions { display: flex; gap: 6px; margin-left: auto; flex-wrap: wrap; }
.tabs { display: flex; gap: 2px; padding: 0 10px; border-bottom: 1px solid var(--line); overflow-x: auto; }
.tabs button {
  border: 0; border-radius: 0; background: none; padding: 5px 10px; color: var(--soft); border-bottom: 2px solid transparent;
}
.tabs button[aria-selected="true"] { color: var(--text); border-bottom-color: var(--accent); font-weight: 600; }
.panel { flex: 1; overflow: auto; padding: 12px 14px; outline-offset: -2px; }
.headline { font-family: var(--mono); font-size: 13px; font-weight: 600; overflow-wrap: anywhere; margin-bottom: 8px; }
.headline small { color: var(--soft); font-weight: 400; display: block; }
.facts { list-style: none; margin: 0; padding: 0; }
.facts li { padding: 4px 0 4px 18px; position: relative; overflow-wrap: anywhere; }
.facts li::before { content: ""; position: absolute; left: 3px; top: 12px; width: 6px; height: 6px; border-radius: 50%; background: var(--line); }
.facts li[data-tone="good"]::before { background: var(--good); }
.facts li[data-tone="busy"]::before { background: var(--busy); }
.facts li[data-tone="wait"]::before { background: var(--wait); }
.facts li[data-tone="bad"]::before { background: var(--bad); }
.facts li.sub { margin-left: 18px; color: var(--soft); font-size: 13px; padding-top: 1px; padding-bottom: 1px; }
.facts li.sub::before { top: 9px; width: 4px; height: 4px; }
.codes { display: flex; flex-wrap: wrap; gap: 5px; margin-top: 10px; }
.codes code, code { font-family: var(--mono); font-size: 12px; }
.codes code { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: 1px 7px; }
.title { font-size: 12px; color: var(--soft); margin: 14px 0 4px; font-weight: 600; }

.value { font-family: var(--mono); font-size: 12.5px; }
.value details { padding-left: 14px; }
.value summary { cursor: pointer; margin-left: -14px; overflow-wrap: anywhere; border-radius: 4px; }
.value .leaf { padding-left: 14px; overflow-wrap: anywhere; white-space: pre-wrap; }
.value .key { color: var(--accent); }
.value .type { color: var(--soft); }
.value .secret { color: var(--wait); font-style: italic; }
.value .text { color: var(--good); }
.value .number { color: var(--busy); }
textarea { width: 100%; min-height: 180px; font-family: var(--mono); font-size: 12.5px; resize: vertical; }

.links { list-style: none; margin: 0; padding: 0; font-size: 12.5px; color: var(--soft); }
.links button { border: 0; background: none; padding: 1px 4px; min-height: 0; color: var(--accent); font-family: var(--mono); white-space: normal; text-align: start; }
.search { display: flex; gap: 8px; margin-bottom: 8px; }
.search input { flex: 1; min-width: 0; }
.difference { list-style: none; margin: 6px 0 0; padding: 0; font-family: var(--mono); font-size: 12.5px; }
.difference li { padding: 2px 0; overflow-wrap: anywhere; }
.difference .key { color: var(--accent); }
.difference del { color: var(--bad); background: var(--bad-ground); border-radius: 4px; padding: 0 4px; }
.difference ins { color: var(--good); text-decoration: none; border-radius: 4px; padding: 0 4px; background: var(--raised); }
.sums { padding: 6px 12px; border-top: 1px solid var(--line); font-size: 12.5px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.events li[data-tone="bad"] span { color: var(--bad); }
.events li[data-tone="bad"] i { border-radius: 0; rotate: 45deg; }
.events { list-style: none; margin: 0; padding: 0; font-size: 12.5px; }
.events li { display: grid; grid-template-columns: 92px 12px minmax(0, 1fr); gap: 8px; padding: 2px 0; align-items: baseline; }
.events time { color: var(--soft); font-family: var(--mono); font-size: 11.5px; }
.events i { width: 9px; height: 9px; border-radius: 3px; background: var(--cause-other); align-self: center; }
.events span { overflow-wrap: anywhere; }
.cards { display: grid; gap: 10px; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); }
.card { border: 1px solid var(--line); border-radius: 9px; padding: 10px 12px; background: var(--raised); }
.card h3 { font-size: 13px; overflow-wrap: anywhere; }
.card p { color: var(--soft); font-size: 12.5px; overflow-wrap: anywhere; }
.card dl { display: grid; grid-template-columns: 1fr auto; gap: 1px 10px; margin-top: 6px; font-size: 12.5px; }
.card dd { text-align: right; font-variant-numeric: tabular-nums; }
.field { display: grid; grid-template-columns: 120px 1fr 70px; gap: 10px; align-items: center; padding: 6px 0; }
.field input[type="range"] { width: 100%; accent-color: var(--accent); }
.field output { text-align: right; font-variant-numeric: tabular-nums; }

.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; font-size: 12px; color: var(--soft); }
.legend span { display: inline-flex; align-items: center; gap: 5px; }
.legend i { width: 10px; height: 10px; border-radius: 3px; }
.zoom { display: flex; gap: 4px; align-items: center; margin-left: auto; }
.zoom output { min-width: 58px; text-align: center; font-size: 12.5px; color: var(--soft); font-variant-numeric: tabular-nums; }
.lanes { flex: 1; position: relative; min-height: 0; border-top: 1px solid var(--line); }
canvas { position: absolute; inset: 0; width: 100%; height: 100%; touch-action: none; cursor: grab; outline-offset: -2px; }
canvas.dragging { cursor: grabbing; }
canvas.selecting { cursor: crosshair; }
canvas.edge { cursor: col-resize; }
.tip {
  position: absolute; z-index: 3; max-width: min(360px, 90%); pointer-events: none; background: var(--text); color: var(--pane);
  padding: 7px 10px; border-radius: 8px; font-size: 12.5px; box-shadow: var(--shadow); overflow-wrap: anywhere;
}
.tip b { display: block; font-family: var(--mono); font-size: 12px; }
.scrub { display: flex; align-items: center; gap: 10px; padding: 6px 12px; border-top: 1px solid var(--line); }
.scrub input { flex: 1; accent-color: var(--accent); }
.scrub output { font-size: 12.5px; font-variant-numeric: tabular-nums; color: var(--soft); }

.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.switch { display: flex; gap: 2px; background: var(--raised); border-radius: 8px; padding: 2px; }
.switch button { border-color: transparent; background: none; padding: 1px 10px; min-height: 26px; color: var(--soft); }
.switch button[aria-selected="true"] { background: var(--pane); color: var(--text); font-weight: 650; border-color: var(--line); }
.waits { flex: 1; overflow: auto; min-height: 0; border-top: 1px solid var(--line); padding: 10px 14px; }
.waits section + section { margin-top: 16px; }
.waits h3 { font-size: 13px; margin-bottom: 6px; }
.waits h3 small, .waits section > p { color: var(--soft); font-weight: 400; font-size: 12.5px; }
.graph { display: grid; grid-template-columns: minmax(0, 3fr) minmax(220px, 2fr); gap: 8px 16px; }
.picture { overflow: auto; }
.picture svg { display: block; font-size: 11.5px; }
.graph ul { list-style: none; margin: 0; padding: 0; min-width: 0; }
.graph li button {
  display: block; width: 100%; text-align: start; white-space: normal; overflow-wrap: anywhere; background: none; border-color: transparent;
  border-left: 3px solid var(--line); border-radius: 0 7px 7px 0; padding: 3px 8px; min-height: 0; font-size: 12.5px; color: var(--soft);
}
.graph li b { color: var(--text); font-family: var(--mono); font-size: 12px; font-weight: 600; }
.graph li button[data-tone="wait"] { border-left-color: var(--wait); }
.graph li button[data-tone="busy"] { border-left-color: var(--busy); }
.node rect { fill: var(--raised); stroke: var(--line); stroke-width: 1.5; }
.node[data-tone="busy"] rect { stroke: var(--busy); }
.node[data-tone="wait"] rect { stroke: var(--wait); }
.node[data-tone="thing"] rect { stroke: var(--soft); stroke-dasharray: 4 3; }
.node { cursor: default; }
.node text, .edge text { fill: var(--soft); font-size: 11px; }
.node text.what { fill: var(--text); font-family: var(--mono); font-size: 11.5px; font-weight: 600; }
.edge path { fill: none; stroke: var(--soft); stroke-width: 1.3; }
.edge .head { fill: var(--soft); stroke: none; }
.dim .node:not(.lit), .dim .edge:not(.lit) { opacity: 0.3; }
.edge.lit path { stroke: var(--accent); stroke-width: 2; }
.edge.lit .head { fill: var(--accent); }

.views { display: none; }
dialog {
  background: var(--pane); color: var(--text); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px;
  max-width: min(560px, 94vw); box-shadow: var(--shadow);
}
dialog::backdrop { background: #0007; }
dialog h2 { font-size: 15px; margin-bottom: 10px; }
dialog table { border-spacing: 12px 3px; margin: 0 -12px 10px; }
kbd { font-family: var(--mono); font-size: 12px; border: 1px solid var(--line); border-radius: 5px; padding: 1px 6px; background: var(--raised); }
.toast {
  position: fixed; bottom: 64px; left: 50%; translate: -50% 0; background: var(--text); color: var(--pane); border-radius: 9px;
  padding: 8px 14px; opacity: 0; transition: opacity 0.2s; pointer-events: none; max-width: 90vw; z-index: 5;
}
.toast.shown { opacity: 1; }

@media (max-width: 1180px) {
  .name { display: none; }
  .tree-head, .row { grid-template-columns: minmax(0, 1fr) 104px 48px 46px 48px; }
  .tree-head > :nth-child(5), .row > :nth-child(5) { display: none; }
}
@media (max-width: 760px) {
  main { display: block; padding: 0; }
  .splitter { display: none; }
  .pane { height: 100%; border: 0; border-radius: 0; display: none; }
  body[data-view="stores"] #stores, body[data-view="details"] #details, body[data-view="timeline"] #timeline { display: flex; }
  .views { display: grid; grid-template-columns: repeat(3, 1fr); background: var(--pane); border-top: 1px solid var(--line); }
  .views button { border: 0; border-radius: 0; min-height: 46px; }
  .bar { padding: 6px 10px; gap: 4px 10px; flex-wrap: wrap; }
  .program { flex: 1; }
  .legend { flex-wrap: nowrap; overflow-x: auto; }
  .graph { grid-template-columns: minmax(0, 1fr); }
  #save { display: none; }
  .name, .counts [data-small="no"] { display: none; }
  .counts { margin-left: 0; order: 9; width: 100%; overflow-x: auto; gap: 2px 12px; }
  .tools { margin-left: auto; }
  .tools button { padding: 4px 8px; }
  .tree-head, .row { grid-template-columns: minmax(0, 1fr) 100px 46px; padding: 0 10px; }
  .tree-head > :nth-child(3), .row > :nth-child(3), .tree-head > :nth-child(4), .row > :nth-child(4) { display: none; }
  .row { height: 36px; }
  .select { display: none; }
}
@media (min-width: 1900px) {
  body { font-size: 15px; }
}

"""##
}
#endif
