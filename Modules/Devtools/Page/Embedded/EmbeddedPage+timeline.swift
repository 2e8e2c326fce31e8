// Made by Scripts/devtools-page.
// swift-format-ignore-file
#if SwiftOperationDevtools
extension EmbeddedPage {
  static let timeline = ##"""
'use strict';
// The runs in time, on a canvas: a lane for each store, a bar for each run, coloured by its cause.
Devtools.Timeline = class {
  static laneHeight = 22;
  static axisHeight = 22;

  constructor(model, choose) {
    this.model = model;
    this.choose = choose;
    this.canvas = Devtools.byID('canvas');
    this.context = this.canvas.getContext('2d');
    this.tip = Devtools.byID('tip');
    this.follows = true;
    this.span = 30;
    this.end = 0;
    this.scroll = 0;
    this.lanes = [];
    this.active = [];
    this.sorted = [];
    this.selected = null;
    this.filter = '';
    this.moment = null;
    // The groups that are folded, by the first elements of their paths.
    this.folded = new Set();
    this.range = null;
    this.selects = false;
    this.gutterWidth = Number(localStorage.getItem('gutter')) || null;
    this.pointers = new Map();
    this.colors = Devtools.colors();
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
    this.listen();
    this.makeLegend();
  }

  // The causes that there were.
  makeLegend() {
    const causes = Devtools.causes.filter(([group]) => this.model.groups.has(group));
    if (this.causeCount === causes.length) return;
    this.causeCount = causes.length;
    Devtools.fill(Devtools.byID('legend'), ...causes.map(([group, title]) => Devtools.element('span', {},
      Devtools.element('i', { style: { background: `var(--cause-${group})` }, 'aria-hidden': 'true' }), title)));
  }

  recolor() {
    this.colors = Devtools.colors();
    this.draw();
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.max(1, Math.round(box.width * ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * ratio));
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw();
  }

  get gutter() {
    return Math.min(this.gutterWidth ?? Math.min(190, Math.max(90, this.width * 0.2)), Math.max(60, this.width - 120));
  }

  get now() { return this.moment ?? this.model.now(); }

  get start() { return this.end - this.span; }

  x(time) { return this.gutter + ((time - this.start) / this.span) * (this.width - this.gutter); }

  time(x) { return this.start + ((x - this.gutter) / (this.width - this.gutter)) * this.span; }

  setFollows(follows) {
    this.follows = follows;
    Devtools.byID('follow').setAttribute('aria-pressed', String(follows));
  }

  // Zooms around a time, which stays where it is.
  zoom(factor, time = this.follows ? this.end : this.end - this.span / 2) {
    const span = Math.min(Math.max(this.span * factor, 0.01), 7 * 86400);
    const place = (time - this.start) / this.span;
    this.span = span;
    this.end = time + span * (1 - place);
    this.changed();
  }

  pan(seconds) {
    this.end += seconds;
    this.setFollows(false);
    this.changed();
  }

  fit() {
    if (this.model.first === Infinity) return;
    const end = this.now;
    this.span = Math.max((end - this.model.first) * 1.05, 0.1);
    this.end = end + this.span * 0.02;
    this.changed();
  }

  // Brings the lanes of a path into sight.
  select(path) {
    this.selected = path;
    this.collect();
    const index = this.lanes.findIndex((lane) => !lane.lanes && path.every((part, place) => lane.path[place] === part));
    const top = index * Devtools.Timeline.laneHeight;
    const room = this.height - Devtools.Timeline.axisHeight - Devtools.Timeline.laneHeight;
    if (index >= 0) this.scroll = Math.min(Math.max(this.scroll, top - room), top);
    this.draw();
  }

  changed() {
    this.tip.hidden = true;
    this.draw();
  }

  // ---- Drawing

  // The lanes with something in sight, in the order of their paths, below the heads of their groups.
  collect() {
    const { start, end } = this;
    if (this.laneChanges !== this.model.laneChanges) {
      this.laneChanges = this.model.laneChanges;
      this.sorted = [...this.model.lanes.values()].sort((a, b) => Devtools.compare(a.text, b.text));
    }
    this.active = this.filtered().filter((lane) => {
      if (lane.open.size > 0) return true;
      if ((lane.runs.at(-1)?.end ?? 0) < start && (lane.marks.at(-1)?.date ?? 0) < start) return false;
      return (lane.runs[0]?.start ?? Infinity) <= end || (lane.marks[0]?.date ?? Infinity) <= end;
    });
    this.lanes = this.grouped(this.active);
    const room = this.height - Devtools.Timeline.axisHeight;
    this.scroll = Math.max(0, Math.min(this.scroll, this.lanes.length * Devtools.Timeline.laneHeight - room));
  }

  // The lanes with all words of the filter.
  filtered() {
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return this.sorted;
    return this.sorted.filter((lane) => {
      const text = `${lane.text} ${lane.operation}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  draw() {
    if (!this.width) return;
    if (this.follows) this.end = this.now + this.span * 0.02;
    this.collect();
    const { context, colors } = this;
    context.clearRect(0, 0, this.width, this.height);
    context.font = '11.5px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
    context.textBaseline = 'middle';
    const { laneHeight, axisHeight } = Devtools.Timeline;
    const first = Math.floor(this.scroll / laneHeight);
    const last = Math.min(this.lanes.length, Math.ceil((this.scroll + this.height - axisHeight) / laneHeight));
    // Below the grid, whose times stay readable.
    this.drawRange();
    this.drawGrid();
    context.save();
    context.beginPath();
    context.rect(0, axisHeight, this.width, this.height - axisHeight);
    context.clip();
    for (let index = first; index < last; index += 1) {
      const [lane, y] = [this.lanes[index], axisHeight + index * laneHeight - this.scroll];
      if (lane.lanes) this.drawGroup(lane, y);
      else this.drawLane(lane, y);
    }
    context.restore();
    const now = this.x(this.now);
    if (now > this.gutter && now < this.width) {
      context.fillStyle = colors.accent;
      context.fillRect(now, axisHeight - 4, 1, this.height);
    }
    if (this.lanes.length === 0) {
      context.fillStyle = colors.soft;
      context.textAlign = 'center';
      context.fillText('No run in this time', this.gutter + (this.width - this.gutter) / 2, this.height / 2);
      context.textAlign = 'left';
    }
    Devtools.byID('span').textContent = Devtools.duration(this.span);
    this.showSums();
    this.makeLegend();
    this.describe();
  }

  drawGrid() {
    const { context, colors } = this;
    const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 21600, 86400];
    const step = steps.find((size) => (size / this.span) * (this.width - this.gutter) > 80) ?? 86400;
    context.fillStyle = colors.raised;
    context.fillRect(0, 0, this.width, Devtools.Timeline.axisHeight);
    for (let tick = Math.ceil(this.start / step) * step; tick < this.end; tick += step) {
      const x = this.x(tick);
      context.fillStyle = colors.line;
      context.fillRect(Math.round(x), 0, 1, this.height);
      context.fillStyle = colors.soft;
      context.fillText(Devtools.time(tick, step < 1 ? 3 : 0), x + 4, Devtools.Timeline.axisHeight / 2);
    }
    context.fillStyle = colors.line;
    context.fillRect(0, Devtools.Timeline.axisHeight - 1, this.width, 1);
    context.fillRect(this.gutter, 0, 1, this.height);
  }

  drawLane(lane, y) {
    const { context, colors } = this;
    const { laneHeight } = Devtools.Timeline;
    context.fillStyle = colors.line;
    context.globalAlpha = 0.5;
    context.fillRect(0, y + laneHeight - 1, this.width, 1);
    context.globalAlpha = 1;
    if (this.selected?.every((part, index) => lane.path[index] === part)) {
      context.fillStyle = colors['accent-ground'];
      context.fillRect(0, y, this.width, laneHeight - 1);
    }
    context.save();
    context.beginPath();
    context.rect(this.gutter + 1, y, this.width, laneHeight);
    context.clip();
    this.drawRuns(lane, y);
    this.drawMarks(lane, y);
    context.restore();
    context.save();
    context.beginPath();
    context.rect(0, y, this.gutter - 6, laneHeight);
    context.clip();
    context.fillStyle = colors.text;
    const label = lane.text;
    const room = Math.floor((this.gutter - 16) / 7);
    context.fillText(label.length > room ? `…${label.slice(label.length - room + 1)}` : label, 10, y + laneHeight / 2);
    context.restore();
  }

  // The index of the first run that may reach into the time in sight. Runs are in the order of their starts.
  firstIndex(runs) {
    let [low, high] = [0, runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (runs[middle].start < this.start) low = middle + 1;
      else high = middle;
    }
    // Runs of one store seldom overlap, so a few before it are enough.
    return Math.max(0, low - 8);
  }

  drawRuns(lane, y) {
    const runs = lane.runs;
    let drawnUpTo = -1;
    for (const run of lane.open.values()) if (run.start < this.start) this.drawRun(run, y);
    for (let index = this.firstIndex(runs); index < runs.length && runs[index].start <= Math.min(this.end, this.now); index += 1) {
      const run = runs[index];
      const x = this.x(run.start);
      const end = this.x(Math.min(run.end ?? this.now, this.now));
      // Where many runs are within a pixel, one of them is drawn, unless another one has failed.
      if (end < drawnUpTo && run.outcome !== 'failure') continue;
      this.drawRun(run, y);
      drawnUpTo = Math.max(x + 1, Math.min(end, x + 1));
    }
  }

  drawRun(run, y) {
    const { context, colors } = this;
    const end = run.end !== null && run.end <= this.now ? run.end : null;
    const x = this.x(run.start);
    const width = Math.max(this.x(end ?? this.now) - x, 2);
    const [top, height] = [y + 4, Devtools.Timeline.laneHeight - 9];
    const color = colors[run.group];
    context.fillStyle = color;
    context.globalAlpha = end === null ? 0.55 : run.outcome === 'cancellation' ? 0.3 : 0.9;
    context.beginPath();
    context.roundRect(x, top, width, height, Math.min(3, width / 2));
    context.fill();
    context.globalAlpha = 1;
    const until = (date) => Math.min(date ?? end ?? this.now, this.now);
    for (const failure of run.failures) {
      if (failure.date > this.now) break;
      // From a failed attempt to the next one it waits.
      const next = run.attempts.find((date) => date >= failure.date) ?? end;
      context.fillStyle = colors.pane;
      context.globalAlpha = 0.6;
      context.fillRect(this.x(failure.date), top + 2, Math.max(this.x(until(next)) - this.x(failure.date), 1), height - 4);
      context.globalAlpha = 1;
      context.fillStyle = colors.bad;
      context.fillRect(this.x(failure.date) - 1, top - 2, 2, height + 4);
    }
    for (const pause of run.pauses) {
      if (pause.start > this.now) break;
      const from = this.x(pause.start);
      const to = this.x(until(pause.end));
      context.fillStyle = colors.wait;
      context.fillRect(from, top + height - 4, Math.max(to - from, 2), 4);
    }
    for (const wait of run.waits) {
      if (wait.start > this.now) break;
      const from = this.x(wait.start);
      context.fillStyle = colors.wait;
      context.fillRect(from, top, Math.max(this.x(until(wait.end)) - from, 1), 2);
    }
    if (run.node) this.drawNode(run.node, x, top, width, height);
    for (const join of run.joins) {
      if (join > this.now) break;
      context.fillStyle = colors.text;
      context.fillRect(this.x(join) - 1, top - 3, 2, 5);
    }
    if (run.outcome === 'failure' && end !== null) {
      context.fillStyle = colors.bad;
      context.fillRect(x + width - 3, top - 1, 3, height + 2);
    }
  }

  // The node of a fleet, where its name has room.
  drawNode(name, x, top, width, height) {
    if (width < name.length * 7 + 8) return;
    this.context.fillStyle = this.colors.pane;
    this.context.fillText(name, x + 4, top + height / 2 + 1);
  }

  drawMarks(lane, y) {
    const { context, colors } = this;
    let last = -9;
    for (const mark of lane.marks) {
      if (mark.date < this.start || mark.date > Math.min(this.end, this.now)) continue;
      const x = this.x(mark.date);
      if (x - last < 3) continue;
      last = x;
      const kind = mark.kind;
      context.fillStyle = kind === 'store.invalidated' ? colors.invalidation : kind === 'notice' ? colors.wait : colors.soft;
      context.beginPath();
      if (kind === 'store.invalidated') {
        context.moveTo(x - 4, y + 1);
        context.lineTo(x + 4, y + 1);
        context.lineTo(x, y + 7);
      } else {
        context.arc(x, y + Devtools.Timeline.laneHeight - 4, 2, 0, 7);
      }
      context.fill();
    }
  }

  // In words, for those who do not see the canvas.
  describe() {
    const second = Math.floor(performance.now() / 2000);
    if (this.described === second) return;
    this.described = second;
    let [runs, failures] = [0, 0];
    for (const lane of this.active) {
      for (let index = this.firstIndex(lane.runs); index < lane.runs.length; index += 1) {
        const run = lane.runs[index];
        if ((run.end ?? this.end) < this.start || run.start > this.end) continue;
        runs += 1;
        if (run.outcome === 'failure') failures += 1;
      }
    }
    this.canvas.setAttribute('aria-label', `Timeline of ${Devtools.duration(this.span)}: ${Devtools.number(runs)} runs of `
      + `${Devtools.number(this.active.length)} stores, ${Devtools.number(failures)} failed. `
      + 'Plus and minus zoom, arrows move. The tab Events has the same as text.');
  }
};

"""##
}
#endif
