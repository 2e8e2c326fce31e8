'use strict';
// What the page knows: the stores as a tree, the runs for the timeline, and the events. Only messages change it.
Devtools.Model = class {
  static runLimit = 60000;
  static recordedRunLimit = 2000000;
  static eventLimit = 20000;
  static nothing = Object.freeze([]);

  constructor() {
    this.hello = {};
    // Which nodes are open, by their keys: it outlives a connection.
    this.folds = new Map();
    this.clear();
  }

  clear() {
    this.recording = null;
    this.rows = new Map();
    this.root = this.makeNode(null, '', []);
    this.lanes = new Map();
    this.lanesOfPaths = new WeakMap();
    this.laneChanges = (this.laneChanges ?? 0) + 1;
    this.events = [];
    // By the names of the operations that have invalidated stores.
    this.invalidations = new Map();
    this.explanations = new Map();
    this.waits = null;
    this.groups = new Set();
    this.limits = [];
    this.simulation = null;
    this.dropped = 0;
    this.eventTotal = 0;
    this.runCount = 0;
    this.first = Infinity;
    this.last = 0;
    this.structure = 0;
    this.version = 0;
    this.isReady = false;
  }

  // The time of the program: it goes on between messages while they are live.
  now() {
    return this.hello.live ? Math.max(Date.now() / 1000, this.last) : this.last;
  }

  apply(message) {
    this.version += 1;
    if (message.type === 'hello') {
      this.clear();
      this.hello = message;
    } else if (message.type === 'explanation') {
      this.explanations.set(message.store, message);
    } else if (message.type === 'waits') {
      this.waits = message;
    }
    if (message.date) this.last = Math.max(this.last, message.date);
    for (const row of message.stores ?? []) this.put(row);
    for (const id of message.removed ?? []) this.remove(id);
    for (const event of message.events ?? []) this.note(event);
    if (message.dropped !== undefined) this.dropped = message.dropped;
    if (message.extras) {
      this.limits = message.extras.limits ?? [];
      this.simulation = message.extras.simulation ?? null;
    }
    if (message.ready) this.isReady = true;
  }

  // ---- The tree

  makeNode(parent, text, path) {
    const level = parent ? parent.level + 1 : -1;
    const key = Devtools.pathKey(path);
    return {
      parent, text, path, level, label: Devtools.label(text), key, children: new Map(), row: null,
      counts: { stores: 0, running: 0, failing: 0, paused: 0, stale: 0, errors: 0, subscribers: 0 },
      isOpen: this.folds.get(key) ?? level < 1, activity: 0, ticks: [],
    };
  }

  // Folds or unfolds a node, which is remembered.
  setOpen(node, isOpen) {
    node.isOpen = isOpen;
    if (this.folds.size > 10000) this.folds.clear();
    this.folds.set(node.key, isOpen);
  }

  nodeAt(path) {
    let node = this.root;
    for (let index = 0; index < path.length; index += 1) {
      let child = node.children.get(path[index]);
      if (!child) {
        child = this.makeNode(node, path[index], path.slice(0, index + 1));
        node.children.set(path[index], child);
        this.structure += 1;
      }
      node = child;
    }
    return node;
  }

  find(path) {
    let node = this.root;
    for (const element of path) node = node?.children.get(element);
    return node;
  }

  put(row) {
    const node = this.nodeAt(row.path);
    const previous = node.row;
    node.row = row;
    this.rows.set(row.id, node);
    if (!previous) this.structure += 1;
    this.count(node, previous, -1);
    this.count(node, row, 1);
  }

  remove(id) {
    let node = this.rows.get(id);
    if (!node) return;
    this.rows.delete(id);
    this.count(node, node.row, -1);
    node.row = null;
    this.structure += 1;
    while (node.parent && !node.row && node.children.size === 0) {
      node.parent.children.delete(node.text);
      node = node.parent;
    }
  }

  count(node, row, sign) {
    if (!row) return;
    const running = row.status === 'loading' ? sign : 0;
    const failing = Devtools.isFailing(row) ? sign : 0;
    for (let current = node; current; current = current.parent) {
      const counts = current.counts;
      counts.stores += sign;
      counts.running += running;
      counts.failing += failing;
      if (row.paused) counts.paused += sign;
      if (row.canBeStale && row.stale) counts.stale += sign;
      counts.errors += sign * row.errors;
      counts.subscribers += sign * row.subscribers;
    }
  }

  // ---- Runs and events

  // The newest events before a moment that are wanted, newest first, of a number at most.
  eventsBefore(moment, isWanted, limit) {
    if (this.recording) return this.recording.eventsBefore(moment, isWanted, limit);
    const found = [];
    for (let index = this.events.length - 1; index >= 0 && found.length < limit; index -= 1) {
      const event = this.events[index];
      if (event.date <= moment + 1 && isWanted(event)) found.push(event);
    }
    return found;
  }

  lane(event) {
    // A recording has one object for each path.
    const known = this.lanesOfPaths.get(event.path);
    if (known) return known;
    const key = Devtools.pathKey(event.path);
    let lane = this.lanes.get(key);
    if (!lane) {
      lane = {
        key, path: event.path, text: event.path.map(Devtools.label).join('/'), operation: event.operation, runs: [], open: new Map(),
        marks: [], last: 0,
      };
      this.lanes.set(key, lane);
      this.laneChanges += 1;
    }
    if (this.recording) this.lanesOfPaths.set(event.path, lane);
    return lane;
  }

  note(event) {
    const lane = this.lane(event);
    if (!this.recording) this.events.push(event);
    if (this.events.length > 2 * Devtools.Model.eventLimit) this.events.splice(0, Devtools.Model.eventLimit);
    this.noteDate(lane, event.date);
    const node = this.recording ? null : this.find(event.path);
    if (node) node.activity = event.date;
    const run = event.run === undefined ? null : lane.open.get(event.run);
    switch (event.kind) {
      case 'run.began':
        this.begin(lane, event.run, event.date, Devtools.causeGroup(event.cause), event.causeText);
        if (node) this.tick(node, event.date);
        break;
      case 'run.joined': this.keep(run, 'joins', event.date); break;
      case 'attempt.failed': this.keep(run, 'failures', { date: event.date, text: event.text, delay: event.delay }); break;
      case 'attempt.began': this.keep(run, 'attempts', event.date); break;
      case 'run.paused': this.keep(run, 'pauses', { start: event.date, end: null, reason: event.reason }); break;
      case 'run.resumed': {
        const pause = run?.pauses.at(-1);
        if (pause && pause.end === null) pause.end = event.date;
        break;
      }
      case 'run.waits': this.keep(run, 'waits', { start: event.date, end: null, reason: event.reason }); break;
      case 'run.waited': {
        const wait = run?.waits.findLast((each) => each.end === null && each.reason === event.reason);
        if (wait) wait.end = event.date;
        break;
      }
      case 'run.ended':
        if (run) {
          this.end(run, event.date, event.outcome);
          // A recording reads it again.
          if (!this.recording) run.endText = event.text;
        }
        break;
      case 'store.invalidated':
        lane.marks.push(event);
        if (event.by) this.noteInvalidation(event);
        break;
      default: lane.marks.push(event);
    }
    if (event.node) this.noteNode(event, run, node);
    if (lane.marks.length > 2000) lane.marks.splice(0, 1000);
    this.forgetIfMany();
  }

  noteDate(lane, date) {
    lane.last = date;
    this.eventTotal += 1;
    if (date < this.first) this.first = date;
    if (date > this.last) this.last = date;
  }

  forgetIfMany() {
    // A recording is bounded by its file, and has the runs of all of it.
    const limit = this.recording ? Devtools.Model.recordedRunLimit : Devtools.Model.runLimit;
    if (Math.max(this.runCount, this.lanes.size) > limit) this.forget();
  }

  // Adds to a list of a run. Most runs have nothing in their lists, which then are one list that is empty.
  keep(run, name, value) {
    if (!run) return;
    if (run[name] === Devtools.Model.nothing) run[name] = [];
    run[name].push(value);
  }

  // What an operation such as a mutation has invalidated: of each store the last time and how often.
  noteInvalidation(event) {
    let stores = this.invalidations.get(event.by);
    if (!stores) {
      if (this.invalidations.size >= 500) this.invalidations.clear();
      stores = new Map();
      this.invalidations.set(event.by, stores);
    }
    const key = Devtools.pathKey(event.path);
    const known = stores.get(key);
    stores.delete(key);
    stores.set(key, { path: event.path, date: event.date, count: (known?.count ?? 0) + 1 });
    if (stores.size > 200) stores.delete(stores.keys().next().value);
  }

  // A node of a fleet that has made the value of a run.
  noteNode(event, run, node) {
    if (run) Object.assign(run, { node: event.node, source: event.source });
    if (node) node.fleetNode = event.node;
  }

  begin(lane, id, date, group, cause = 'a call') {
    const { nothing } = Devtools.Model;
    const run = {
      id, start: date, end: null, group, cause, outcome: null, endText: null, joins: nothing, failures: nothing,
      attempts: nothing, pauses: nothing, waits: nothing, lane, node: null, source: null,
    };
    this.groups.add(run.group);
    lane.open.set(id, run);
    lane.runs.push(run);
    this.runCount += 1;
  }

  end(run, date, outcome) {
    run.end = date;
    run.outcome = outcome;
    run.lane.open.delete(run.id);
  }

  // Counts a run for the rate of a node.
  tick(node, date) {
    node.ticks.push(date);
    if (node.ticks.length > 64) node.ticks.splice(0, 32);
  }

  // Forgets the older half of each lane.
  forget() {
    this.runCount = 0;
    this.first = Infinity;
    for (const lane of this.lanes.values()) {
      lane.runs.splice(0, Math.ceil(lane.runs.length / 2));
      this.runCount += lane.runs.length;
      if (lane.runs.length > 0) this.first = Math.min(this.first, lane.runs[0].start);
      if (lane.runs.length === 0 && lane.open.size === 0) this.dropLane(lane);
    }
    if (this.first === Infinity) this.first = this.last;
  }

  dropLane(lane) {
    this.lanes.delete(lane.key);
    this.lanesOfPaths = new WeakMap();
    this.laneChanges += 1;
  }

  // The runs of a node in the last ten seconds, per second.
  rate(node, now) {
    if (this.recording) return this.recordedRate(node, now);
    const ticks = node.ticks;
    let count = 0;
    for (let index = ticks.length - 1; index >= 0 && ticks[index] > now - 10; index -= 1) count += 1;
    // More ticks than are kept: their density tells.
    if (count === ticks.length && count >= 32) return count / Math.max(now - ticks[0], 0.001);
    return count / 10;
  }

  // The same at a moment of a recording.
  recordedRate(node, now) {
    const runs = this.lanes.get(node.key)?.runs ?? [];
    const place = (time) => {
      let [low, high] = [0, runs.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (runs[middle].start <= time) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    return (place(now) - place(now - 10)) / 10;
  }
};
