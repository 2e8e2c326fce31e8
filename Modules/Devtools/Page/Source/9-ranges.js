'use strict';
// Groups of lanes, and the sums of a selected time.
Object.assign(Devtools.Timeline.prototype, {
  // The lanes below the heads of their groups, which have the first element of a path. One lane alone needs no head.
  grouped(lanes) {
    const groups = new Map();
    for (const lane of lanes) {
      const name = lane.path[0] ?? '';
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(lane);
    }
    if (groups.size === lanes.length) return lanes;
    return [...groups].flatMap(([name, members]) => {
      if (members.length === 1) return members;
      const head = { lanes: members, name, path: [name], text: Devtools.label(name), isFolded: this.folded.has(name) };
      return head.isFolded ? [head] : [head, ...members];
    });
  },

  // The head of a group. The runs of a folded one are drawn in it, over each other.
  drawGroup(group, y) {
    const { context, colors } = this;
    const { laneHeight } = Devtools.Timeline;
    context.fillStyle = colors.raised;
    context.fillRect(0, y, this.width, laneHeight - 1);
    context.save();
    context.beginPath();
    context.rect(this.gutter + 1, y, this.width, laneHeight);
    context.clip();
    if (group.isFolded) for (const lane of group.lanes) this.drawRuns(lane, y);
    context.restore();
    context.save();
    context.beginPath();
    context.rect(0, y, this.gutter - 6, laneHeight);
    context.clip();
    context.fillStyle = colors.soft;
    context.fillText(`${group.isFolded ? '▸' : '▾'} ${group.text} (${group.lanes.length})`, 6, y + laneHeight / 2);
    context.restore();
  },

  toggleGroup(group) {
    if (!this.folded.delete(group.name)) this.folded.add(group.name);
    this.changed();
  },

  // ---- A selected time

  setRange(range) {
    this.range = range && { start: Math.min(range.start, range.end), end: Math.max(range.start, range.end) };
    this.sumsKey = null;
    if (!range) this.setSelects(false);
    this.draw();
  },

  // Whether the next drag selects a time.
  setSelects(selects) {
    this.selects = selects;
    Devtools.byID('range').setAttribute('aria-pressed', String(selects || this.range !== null));
    this.canvas.classList.toggle('selecting', selects);
  },

  drawRange() {
    if (!this.range) return;
    const from = Math.max(this.x(this.range.start), this.gutter);
    const to = Math.min(this.x(this.range.end), this.width);
    if (to <= from) return;
    this.context.fillStyle = this.colors['accent-ground'];
    this.context.fillRect(from, 0, Math.max(to - from, 1), this.height);
  },

  // What happened in the selected time: of the lanes that the filter shows, whether they are in sight or not.
  sums({ start, end }) {
    const sums = { runs: 0, failed: 0, cancelled: 0, retries: 0, joins: 0, paused: 0, time: 0, longest: 0, stores: 0, causes: new Map() };
    for (const lane of this.filtered()) {
      let isIn = false;
      for (const run of lane.runs) {
        if (run.start > end) break;
        const last = run.end ?? this.now;
        if (last < start) continue;
        isIn = true;
        sums.runs += 1;
        if (run.outcome === 'failure') sums.failed += 1;
        if (run.outcome === 'cancellation') sums.cancelled += 1;
        sums.retries += run.attempts.length;
        sums.joins += run.joins.length;
        for (const pause of run.pauses) sums.paused += Math.max(0, Math.min(pause.end ?? last, end) - Math.max(pause.start, start));
        sums.time += Math.min(last, end) - Math.max(run.start, start);
        sums.longest = Math.max(sums.longest, last - run.start);
        sums.causes.set(run.group, (sums.causes.get(run.group) ?? 0) + 1);
      }
      if (isIn) sums.stores += 1;
    }
    return sums;
  },

  showSums() {
    const place = Devtools.byID('sums');
    place.hidden = !this.range;
    if (!this.range) return;
    // Not with each frame.
    const key = `${this.range.start} ${this.range.end} ${this.filter} ${this.model.eventTotal >> 6} ${Math.floor(this.now)}`;
    if (this.sumsKey === key) return;
    this.sumsKey = key;
    const sums = this.sums(this.range);
    const text = (seconds) => Devtools.duration(seconds);
    const parts = [
      `${Devtools.time(this.range.start)} to ${Devtools.time(this.range.end)}, ${text(this.range.end - this.range.start)}`,
      `${Devtools.count(sums.runs, 'run')} of ${Devtools.count(sums.stores, 'store')}`, `${Devtools.number(sums.failed)} failed`,
      `${Devtools.number(sums.cancelled)} cancelled`, `${Devtools.number(sums.retries)} ${sums.retries === 1 ? 'retry' : 'retries'}`, `${Devtools.count(sums.joins, 'join')}`,
      `${text(sums.time)} of running, ${text(sums.paused)} of it paused`,
    ];
    if (sums.runs > 0) parts.push(`the longest run ${text(sums.longest)}`);
    const causes = [...sums.causes].sort((a, b) => b[1] - a[1]).map(([group, count]) => `${group} ${Devtools.number(count)}`);
    if (causes.length > 0) parts.push(`by ${causes.join(', ')}`);
    place.textContent = parts.join(' · ');
  },
});
