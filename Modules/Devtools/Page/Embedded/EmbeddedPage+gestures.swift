// Made by Scripts/devtools-page.
// swift-format-ignore-file
#if SwiftOperationDevtools
extension EmbeddedPage {
  static let gestures = ##"""
'use strict';
// Zooming, moving and pointing on the timeline: by mouse, finger and keyboard.
Object.assign(Devtools.Timeline.prototype, {
  listen() {
    const { canvas } = this;
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.moved(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    canvas.addEventListener('keydown', (event) => this.key(event));
    const on = (id, action) => Devtools.byID(id).addEventListener('click', action);
    on('zoom-in', () => this.zoom(0.6));
    on('zoom-out', () => this.zoom(1 / 0.6));
    on('fit', () => {
      this.setFollows(false);
      this.fit();
    });
    on('range', () => {
      if (this.range) this.setRange(null);
      else this.setSelects(!this.selects);
    });
    on('follow', () => {
      this.setFollows(!this.follows);
      this.draw();
    });
  },

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  },

  wheel(event) {
    event.preventDefault();
    const { x } = this.place(event);
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.pan(((event.deltaX || event.deltaY) / (this.width - this.gutter)) * this.span);
    } else if (event.ctrlKey || x > this.gutter) {
      this.zoom(Math.exp(Math.max(-60, Math.min(event.deltaY, 60)) * 0.005), this.follows ? this.end : this.time(x));
    } else {
      this.scroll += event.deltaY;
      this.changed();
    }
  },

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const place = this.place(event);
    const isGutter = Math.abs(place.x - this.gutter) < 5;
    const selection = !isGutter && place.x > this.gutter && (event.shiftKey || this.selects) ? this.time(place.x) : null;
    this.pointers.set(event.pointerId, { ...place, hasMoved: false, isGutter, selection });
  },

  moved(event) {
    const place = this.place(event);
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return this.point(place);
    if (pointer.isGutter || pointer.selection !== null) return this.drag(pointer, place);
    const others = [...this.pointers.entries()].filter(([id]) => id !== event.pointerId);
    if (others.length > 0) {
      const other = others[0][1];
      const [before, after] = [Math.abs(pointer.x - other.x), Math.abs(place.x - other.x)];
      if (before > 10 && after > 10) this.zoom(before / after, this.time((place.x + other.x) / 2));
      Object.assign(pointer, place, { hasMoved: true });
      return;
    }
    const [dx, dy] = [place.x - pointer.x, place.y - pointer.y];
    if (!pointer.hasMoved && Math.abs(dx) + Math.abs(dy) < 4) return;
    this.canvas.classList.add('dragging');
    this.scroll -= dy;
    if (Math.abs(dx) > 0) this.pan((-dx / (this.width - this.gutter)) * this.span);
    else this.changed();
    Object.assign(pointer, place, { hasMoved: true });
  },

  // Moves the edge of the labels, or selects a time.
  drag(pointer, place) {
    pointer.hasMoved = true;
    if (pointer.isGutter) {
      this.gutterWidth = Math.min(Math.max(place.x, 60), this.width - 120);
      localStorage.setItem('gutter', String(Math.round(this.gutterWidth)));
      return this.changed();
    }
    this.setFollows(false);
    this.setRange({ start: pointer.selection, end: this.time(Math.max(place.x, this.gutter)) });
  },

  up(event) {
    const pointer = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    this.canvas.classList.remove('dragging');
    if (pointer?.selection !== null && pointer?.hasMoved) this.setSelects(false);
    if (!pointer || pointer.hasMoved) return;
    const lane = this.laneAt(pointer.y);
    if (lane?.lanes) this.toggleGroup(lane);
    else if (lane) this.choose(lane.path);
  },

  laneAt(y) {
    const index = Math.floor((y - Devtools.Timeline.axisHeight + this.scroll) / Devtools.Timeline.laneHeight);
    return y > Devtools.Timeline.axisHeight ? this.lanes[index] : undefined;
  },

  // The run at a place, else the mark there.
  at({ x, y }) {
    const lane = this.laneAt(y);
    if (!lane || lane.lanes) return null;
    const time = this.time(x);
    const slack = (3 / (this.width - this.gutter)) * this.span;
    const runs = [...lane.open.values(), ...lane.runs.slice(this.firstIndex(lane.runs))];
    const mark = lane.marks.findLast((event) => Math.abs(event.date - time) <= slack);
    const run = runs.findLast((each) => each.start - slack <= time && (each.end ?? this.now) + slack >= time);
    return mark && (!run || y % 2 < 0) ? { lane, mark } : run ? { lane, run } : mark ? { lane, mark } : null;
  },

  point(place) {
    this.canvas.classList.toggle('edge', Math.abs(place.x - this.gutter) < 5);
    const found = place.x > this.gutter ? this.at(place) : this.labelAt(place);
    this.tip.hidden = !found;
    if (!found) return;
    const lines = found.lines ? found.lines : found.run ? this.runLines(found.run) : [`${Devtools.time(found.mark.date)}: ${found.mark.text}`];
    Devtools.fill(this.tip, Devtools.element('b', {}, `${found.lane.operation} · ${Devtools.pathText(found.lane.path)}`),
      ...lines.map((line) => Devtools.element('div', {}, line)));
    const { offsetWidth, offsetHeight } = this.tip;
    this.tip.style.setProperty('left', `${Math.max(4, Math.min(place.x + 12, this.width - offsetWidth - 6))}px`);
    const below = place.y + 18 + offsetHeight < this.height;
    this.tip.style.setProperty('top', `${below ? place.y + 18 : Math.max(2, place.y - offsetHeight - 8)}px`);
  },

  // The whole label of a lane, which may be cut off.
  labelAt({ y }) {
    const lane = this.laneAt(y);
    if (!lane) return null;
    if (lane.lanes) return { lane: { operation: lane.text, path: lane.path }, lines: [Devtools.count(lane.lanes.length, 'store')] };
    return { lane, lines: [Devtools.count(lane.runs.length, 'run')] };
  },

  runLines(run) {
    const lines = [`Began at ${Devtools.time(run.start)}, started by ${run.cause}`];
    for (const failure of run.failures) lines.push(failure.text);
    for (const pause of run.pauses) {
      lines.push(`Waited ${Devtools.duration((pause.end ?? run.end ?? this.now) - pause.start)} until ${pause.reason}`);
    }
    for (const wait of run.waits) {
      lines.push(`Waited ${Devtools.duration((wait.end ?? run.end ?? this.now) - wait.start)} for ${wait.reason}`);
    }
    if (run.node) lines.push(`Its value is of the node ${run.node}${run.source ? ` (${run.source})` : ''}`);
    if (run.joins.length > 0) lines.push(run.joins.length === 1 ? 'A caller joined it' : `${run.joins.length} callers joined it`);
    lines.push(run.end === null || run.end > this.now ? `Under way for ${Devtools.duration(this.now - run.start)}`
      : run.endText ?? this.model.recording?.endText(run) ?? '');
    return lines;
  },

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = this.span / 10;
    switch (event.key) {
      case '+': case '=': this.zoom(0.6); break;
      case '-': this.zoom(1 / 0.6); break;
      case 'ArrowLeft': this.pan(-step); break;
      case 'ArrowRight': this.pan(step); break;
      case 'ArrowUp': this.scroll -= 22; this.changed(); break;
      case 'ArrowDown': this.scroll += 22; this.changed(); break;
      case '0': this.setFollows(false); this.fit(); break;
      case 'End': this.setFollows(true); this.draw(); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  },
});

"""##
}
#endif
