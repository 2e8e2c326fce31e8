// Made by Scripts/devtools-page.
// swift-format-ignore-file
#if SwiftOperationDevtools
extension EmbeddedPage {
  static let model = ##"""
'use strict';
// What the page knows: the stores as a tree, the runs for the timeline, and the events. Only messages change it.
Devtools.Model = class {
  static runLimit = 60000;
  static eventLimit = 20000;

  constructor() {
    this.hello = {};
    this.clear();
  }

  clear() {
    this.rows = new Map();
    this.root = this.makeNode(null, '', []);
    this.lanes = new Map();
    this.laneChanges = (this.laneChanges ?? 0) + 1;
    this.events = [];
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
    return {
      parent, text, path, level, label: Devtools.label(text), key: Devtools.pathKey(path), children: new Map(), row: null,
      counts: { stores: 0, running: 0, failing: 0, paused: 0, stale: 0, errors: 0, subscribers: 0 },
      isOpen: level < 1, activity: 0, ticks: [],
    };
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
    const failing = row.status === 'failure' ? sign : 0;
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

  lane(event) {
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
    return lane;
  }

  note(event) {
    const lane = this.lane(event);
    lane.last = event.date;
    this.eventTotal += 1;
    this.events.push(event);
    if (this.events.length > 2 * Devtools.Model.eventLimit) this.events.splice(0, Devtools.Model.eventLimit);
    this.first = Math.min(this.first, event.date);
    this.last = Math.max(this.last, event.date);
    const node = this.find(event.path);
    if (node) node.activity = event.date;
    const run = event.run === undefined ? null : lane.open.get(event.run);
    switch (event.kind) {
      case 'run.began': this.begin(lane, event, node); break;
      case 'run.joined': run?.joins.push(event.date); break;
      case 'attempt.failed': run?.failures.push({ date: event.date, text: event.text, delay: event.delay }); break;
      case 'attempt.began': run?.attempts.push(event.date); break;
      case 'run.paused': run?.pauses.push({ start: event.date, end: null, reason: event.reason }); break;
      case 'run.resumed': {
        const pause = run?.pauses.at(-1);
        if (pause && pause.end === null) pause.end = event.date;
        break;
      }
      case 'run.waits': run?.waits.push({ start: event.date, end: null, reason: event.reason }); break;
      case 'run.waited': {
        const wait = run?.waits.findLast((each) => each.end === null && each.reason === event.reason);
        if (wait) wait.end = event.date;
        break;
      }
      case 'run.yielded': run?.yields.push(event.date); break;
      case 'run.ended':
        if (run) {
          run.end = event.date;
          run.outcome = event.outcome;
          run.endText = event.text;
          lane.open.delete(event.run);
        }
        break;
      default: lane.marks.push(event);
    }
    if (event.node) this.noteNode(event, run, node);
    if (lane.marks.length > 2000) lane.marks.splice(0, 1000);
    if (Math.max(this.runCount, this.lanes.size) > Devtools.Model.runLimit) this.forget();
  }

  // A node of a fleet that has made the value of a run.
  noteNode(event, run, node) {
    if (run) Object.assign(run, { node: event.node, source: event.source });
    if (node) node.fleetNode = event.node;
  }

  begin(lane, event, node) {
    const run = {
      id: event.run, start: event.date, end: null, group: Devtools.causeGroup(event.cause), cause: event.causeText ?? 'a call',
      outcome: null, endText: '', joins: [], failures: [], attempts: [], pauses: [], waits: [], yields: [], lane,
      node: null, source: null,
    };
    this.groups.add(run.group);
    lane.open.set(event.run, run);
    lane.runs.push(run);
    this.runCount += 1;
    if (node) {
      node.ticks.push(event.date);
      if (node.ticks.length > 64) node.ticks.splice(0, 32);
    }
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
    this.laneChanges += 1;
  }

  // The runs of a node in the last ten seconds, per second.
  rate(node, now) {
    const ticks = node.ticks;
    let count = 0;
    for (let index = ticks.length - 1; index >= 0 && ticks[index] > now - 10; index -= 1) count += 1;
    // More ticks than are kept: their density tells.
    if (count === ticks.length && count >= 32) return count / Math.max(now - ticks[0], 0.001);
    return count / 10;
  }
};

"""##
}
#endif
