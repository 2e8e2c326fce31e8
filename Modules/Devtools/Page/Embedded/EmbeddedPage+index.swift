// Made by Scripts/devtools-page.
// swift-format-ignore-file
#if SwiftOperationDevtools
extension EmbeddedPage {
  static let index = ##"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Operation Devtools</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/devtools.css">
</head>
<body data-view="stores">
<a class="skip" href="#tree">Skip to the stores</a>
<header class="bar">
  <h1><span class="mark" aria-hidden="true"></span><span class="name">Operation Devtools</span></h1>
  <p id="program" class="program"></p>
  <p id="connection" class="connection" role="status"></p>
  <dl id="counts" class="counts" aria-label="The client in numbers"></dl>
  <div class="tools">
    <button id="save" type="button" title="Keep what happened in a file (S)">Save recording</button>
    <button id="open" type="button" title="Show a recording from a file (O)">Open…</button>
    <button id="theme" type="button" title="Light, dark, or as the system (D)" aria-label="Theme">◐</button>
    <button id="help" type="button" title="Keys (?)" aria-label="Keys">?</button>
    <input id="file" type="file" accept=".ndjson,.jsonl,application/x-ndjson" hidden aria-label="Recording">
  </div>
</header>
<main>
  <section id="stores" class="pane" aria-labelledby="stores-title">
    <div class="pane-head">
      <h2 id="stores-title">Stores</h2>
      <input id="filter" type="search" placeholder="Filter by path or operation  ( / )" aria-label="Filter by path or operation"
        autocomplete="off" spellcheck="false">
      <label class="select">Sort
        <select id="sort" aria-label="Sort stores by">
          <option value="path">path</option>
          <option value="activity">last activity</option>
          <option value="rate">runs per second</option>
          <option value="errors">errors</option>
          <option value="age">age of the value</option>
          <option value="subscribers">subscribers</option>
        </select>
      </label>
    </div>
    <div id="chips" class="chips" role="group" aria-label="Show"></div>
    <div id="tree" class="tree" role="treegrid" tabindex="0" aria-label="Stores by path">
      <div class="tree-head" role="row">
        <span role="columnheader">Path</span><span role="columnheader">State</span>
        <span role="columnheader" class="num">Runs/s</span><span role="columnheader" class="num">Errors</span>
        <span role="columnheader" class="num">Readers</span><span role="columnheader" class="num">Age</span>
      </div>
      <div id="rows" class="rows" role="rowgroup"></div>
    </div>
    <p id="empty" class="empty" hidden></p>
  </section>
  <div id="split-columns" class="splitter" role="separator" tabindex="0" aria-orientation="vertical" aria-valuemin="15" aria-valuemax="85"
    aria-label="Width of the stores" title="Drag to change the width; a double click resets it"></div>
  <div id="split-rows" class="splitter" role="separator" tabindex="0" aria-orientation="horizontal" aria-valuemin="15" aria-valuemax="85"
    aria-label="Height of the runs" title="Drag to change the height; a double click resets it"></div>
  <section id="details" class="pane" aria-labelledby="details-title">
    <div class="pane-head">
      <h2 id="details-title">Store</h2>
      <div id="actions" class="actions" role="group" aria-label="Actions"></div>
    </div>
    <div id="tabs" class="tabs" role="tablist" aria-label="About the store"></div>
    <div id="panel" class="panel" role="tabpanel" tabindex="0"></div>
  </section>
  <section id="timeline" class="pane" aria-labelledby="timeline-title">
    <div class="pane-head">
      <h2 id="timeline-title" class="unseen">Runs</h2>
      <div class="switch" role="tablist" aria-label="Runs">
        <button id="tab-timeline" type="button" role="tab" aria-controls="lanes" aria-selected="true" title="Runs in time (T)">Timeline</button>
        <button id="tab-waits" type="button" role="tab" aria-controls="waits" aria-selected="false" tabindex="-1"
          title="What waits for what (W)">Waits</button>
      </div>
      <div id="legend" class="legend" aria-label="Causes of runs"></div>
      <div id="zoom" class="zoom" role="group" aria-label="Timeline">
        <button id="zoom-out" type="button" title="Longer time (−)" aria-label="Show a longer time">−</button>
        <output id="span" aria-label="Shown time"></output>
        <button id="zoom-in" type="button" title="Shorter time (+)" aria-label="Show a shorter time">+</button>
        <button id="range" type="button" aria-pressed="false" title="Select a time, to read its sums (or hold Shift)">Sums</button>
        <button id="fit" type="button" title="All that is known (0)">All</button>
        <button id="follow" type="button" aria-pressed="true" title="Follow what happens (End)">Live</button>
      </div>
    </div>
    <div id="waits" class="waits" role="tabpanel" aria-labelledby="tab-waits" hidden></div>
    <div id="lanes" class="lanes" role="tabpanel" aria-labelledby="tab-timeline">
      <canvas id="canvas" tabindex="0" role="img" aria-label="Timeline"></canvas>
      <div id="tip" class="tip" role="tooltip" hidden></div>
    </div>
    <p id="sums" class="sums" role="status" hidden></p>
    <div id="scrub" class="scrub" hidden>
      <button id="play" type="button" aria-label="Play">▶</button>
      <input id="moment" type="range" min="0" max="1000" value="1000" aria-label="Moment of the recording">
      <output id="moment-text"></output>
      <button id="live" type="button" title="Show the program again">Back to live</button>
    </div>
  </section>
</main>
<nav class="views" aria-label="Views">
  <button type="button" data-view="stores" aria-pressed="true">Stores</button>
  <button type="button" data-view="details" aria-pressed="false">Store</button>
  <button type="button" data-view="timeline" aria-pressed="false">Timeline</button>
</nav>
<dialog id="dialog" aria-label="Operation Devtools"></dialog>
<div id="toast" class="toast" role="status" aria-live="polite"></div>
<noscript><p class="empty">This page needs JavaScript.</p></noscript>
<script src="/devtools.js"></script>
</body>
</html>

"""##
}
#endif
