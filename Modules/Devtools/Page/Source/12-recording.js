'use strict';
// A recording: its events as the lines of the file, which are read again where they are shown, the states of the stores with
// checkpoints, and the runs in the model. So a million events take no more memory than their lines and runs.
Devtools.Recording = class {
  // The number of lines with changed rows between two checkpoints, and of lines that one search reads at most.
  static spacing = 64;
  static searchedLines = 200;

  constructor(model) {
    this.model = model;
    this.hello = {};
    this.lines = [];
    this.chunks = [];
    this.changes = [];
    this.checkpoints = [];
    this.rows = new Map();
    this.useStrings([]);
    this.first = Infinity;
    this.last = 0;
    this.count = 0;
    this.parsed = new Map();
    model.clear();
    model.recording = this;
  }

  // Adds a message, with its line in the file.
  add(message, line) {
    this.lines.push(line);
    if (message.clear) this.useStrings([]);
    if (message.strings) for (const text of message.strings) this.strings.push(text);
    switch (message.type) {
      case 'hello': this.hello = { ...message, live: false, actions: false }; break;
      case 'explanation': this.model.explanations.set(message.store, message); break;
      case 'waits': this.model.waits = message; break;
      case 'update': this.addUpdate(message); break;
      default: break;
    }
    this.model.hello = this.hello;
    if (message.extras) this.model.limits = message.extras.limits ?? [];
    if (message.dropped !== undefined) this.model.dropped = message.dropped;
  }

  useStrings(strings) {
    this.strings = strings;
    // By their places in the table: the lanes of paths, the causes of runs, and the numbers of numbers in templates.
    this.lanesOfPlaces = [];
    this.causesOfPlaces = [];
    this.numbersOfPlaces = [];
  }

  addUpdate(message) {
    if (message.stores || message.removed) this.change(message);
    if (message.log?.length > 0) this.noteLog(message);
    else if (message.events?.length > 0) this.noteEvents(message.events);
    if (message.ready) this.hasBegun = true;
    if (message.date && !message.ready) this.last = Math.max(this.last, message.date);
  }

  noteEvents(events) {
    for (const event of events) this.model.note(event);
    this.noteChunk(events.length, events[0].date, events.at(-1).date);
  }

  noteChunk(count, first, last) {
    this.chunks.push({ index: this.lines.length - 1, strings: this.strings, first, last });
    this.count += count;
    this.first = Math.min(this.first, first);
    this.last = Math.max(this.last, last);
  }

  // Notes events in the compact form.
  noteLog(message) {
    let [number, time] = message.base;
    const first = (time + message.log[0][1]) / 1e6;
    for (const entry of message.log) {
      number += entry[0];
      time += entry[1];
      if (!this.noteBound(entry, time / 1e6)) {
        this.model.note(new Devtools.PackedEvent(entry, this.strings, number, time / 1e6));
      }
    }
    this.noteChunk(message.log.length, first, time / 1e6);
  }

  // Notes the beginning or the end of a run without an object for the event, as most events are one of both. Returns false for any
  // other event, and for one with members that are rare.
  noteBound(entry, date) {
    const kind = this.strings[entry[5]];
    if ((kind !== 'run.began' && kind !== 'run.ended') || entry[7] === 0) return false;
    const more = this.moreOf(entry);
    if (more === null) return false;
    const { model } = this;
    const lane = this.laneOf(entry);
    model.noteDate(lane, date);
    if (kind === 'run.began') {
      const cause = this.causeOf(entry[6]);
      model.begin(lane, entry[7], date, cause.group, cause.text);
    } else {
      const run = lane.open.get(entry[7]);
      if (run) model.end(run, date, more.outcome);
    }
    model.forgetIfMany();
    return true;
  }

  // The further members of an event; null if they are others than an outcome.
  moreOf(entry) {
    const numbers = this.numbersOfPlaces[entry[8]] ??= Devtools.numbers(this.strings[entry[8]]);
    const text = Devtools.filled(entry, this.strings, 9 + numbers);
    if (text === '') return Devtools.Model.nothing;
    const members = Devtools.members(text);
    return members.node === undefined ? members : null;
  }

  laneOf(entry) {
    // The model has another table when lanes have gone.
    if (this.lanesOfPaths !== this.model.lanesOfPaths) {
      this.lanesOfPaths = this.model.lanesOfPaths;
      this.lanesOfPlaces = [];
    }
    return this.lanesOfPlaces[entry[3]] ??= this.model.lane({
      path: Devtools.parsed(this.strings[entry[3]]), operation: this.strings[entry[4]],
    });
  }

  causeOf(place) {
    return this.causesOfPlaces[place] ??= this.cause(place);
  }

  cause(place) {
    const [kind, text] = place > 0 ? Devtools.parsed(this.strings[place - 1]) : [];
    return { group: Devtools.causeGroup(kind), text };
  }

  change(message) {
    // What a recording begins with is there from its beginning.
    const date = this.hasBegun ? message.date : 0;
    this.changes.push({ date, index: this.lines.length - 1 });
    this.apply(this.rows, message);
    if (this.changes.length % Devtools.Recording.spacing === 0) {
      this.checkpoints.push({ date, position: this.changes.length, rows: new Map(this.rows) });
    }
  }

  apply(rows, change) {
    for (const row of change.stores ?? []) rows.set(row.id, row);
    for (const id of change.removed ?? []) rows.delete(id);
  }

  // The rows of the stores at a moment.
  rowsAt(moment) {
    let [low, high] = [0, this.checkpoints.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.checkpoints[middle].date <= moment) low = middle + 1;
      else high = middle;
    }
    const checkpoint = this.checkpoints[low - 1];
    const rows = new Map(checkpoint?.rows);
    for (let index = checkpoint?.position ?? 0; index < this.changes.length && this.changes[index].date <= moment; index += 1) {
      this.apply(rows, JSON.parse(this.lines[this.changes[index].index]));
    }
    return rows;
  }

  // ---- Events

  // The events of a message: as objects, or in the compact form of recordings.
  events(message, strings = this.strings) {
    if (message.events) return message.events;
    return message.log ? Devtools.unpack(message, strings) : [];
  }

  // The events of a chunk, which is read again. The latest few stay.
  chunkEvents(chunk) {
    let events = this.parsed.get(chunk.index);
    if (!events) {
      events = this.events(JSON.parse(this.lines[chunk.index]), chunk.strings);
      if (this.parsed.size >= 8) this.parsed.delete(this.parsed.keys().next().value);
      this.parsed.set(chunk.index, events);
    }
    return events;
  }

  eventsBefore(moment, isWanted, limit) {
    const found = [];
    let left = Devtools.Recording.searchedLines;
    for (let index = this.chunks.length - 1; index >= 0 && found.length < limit && left > 0; index -= 1) {
      const chunk = this.chunks[index];
      if (chunk.first > moment) continue;
      left -= 1;
      const events = this.chunkEvents(chunk);
      for (let place = events.length - 1; place >= 0 && found.length < limit; place -= 1) {
        if (events[place].date <= moment && isWanted(events[place])) found.push(events[place]);
      }
    }
    return found;
  }

  // The text of the end of a run, which is not kept.
  endText(run) {
    const chunk = this.chunks.find((each) => each.first <= run.end && each.last >= run.end
      && this.chunkEvents(each).some((event) => event.run === run.id && event.kind === 'run.ended'));
    return chunk ? this.chunkEvents(chunk).find((event) => event.run === run.id && event.kind === 'run.ended').text : '';
  }

  // Shows the stores as they were at a moment.
  show(moment) {
    const { model } = this;
    const rows = this.rowsAt(moment);
    for (const id of [...model.rows.keys()]) if (!rows.has(id)) model.remove(id);
    for (const [id, row] of rows) if (model.rows.get(id)?.row !== row) model.put(row);
    model.last = moment;
    model.version += 1;
    model.isReady = true;
  }
};

// The events of a message in the compact form. Each is a list: the number and the time since the event before, in microseconds; the
// store; the places of path, operation and kind in the table of strings, and that of the cause plus one; the run; and then the text
// and the further members, each as the place of a template and the numbers that belong into it.
Devtools.unpack = (message, strings) => {
  let [number, time] = message.base;
  return message.log.map((entry) => {
    number += entry[0];
    time += entry[1];
    return new Devtools.PackedEvent(entry, strings, number, time / 1e6);
  });
};

Devtools.PackedEvent = class {
  constructor(entry, strings, number, date) {
    this.entry = entry;
    this.strings = strings;
    this.number = number;
    this.date = date;
    this.store = entry[2];
    this.path = Devtools.parsed(strings[entry[3]]);
    this.operation = strings[entry[4]];
    this.kind = strings[entry[5]];
    if (entry[6] > 0) [this.cause, this.causeText] = Devtools.parsed(strings[entry[6] - 1]);
    this.run = entry[7] > 0 ? entry[7] : undefined;
    const more = Devtools.filled(entry, strings, 9 + Devtools.numbers(strings[entry[8]]));
    if (more !== '') Object.assign(this, Devtools.members(more));
  }

  // Made when it is read.
  get text() { return Devtools.filled(this.entry, this.strings, 8); }
};

// The number of numbers in a template.
Devtools.numbers = (template) => {
  const known = Devtools.numberCounts.get(template);
  if (known !== undefined) return known;
  let count = 0;
  for (let index = template.indexOf('\u0001'); index >= 0; index = template.indexOf('\u0001', index + 1)) count += 1;
  if (Devtools.numberCounts.size > 200000) Devtools.numberCounts.clear();
  Devtools.numberCounts.set(template, count);
  return count;
};
Devtools.numberCounts = new Map();

// The text of the template at a place, with the numbers that follow it.
Devtools.filled = (entry, strings, place) => {
  const template = strings[entry[place]];
  if (!template.includes('\u0001')) return template;
  const parts = template.split('\u0001');
  let text = parts[0];
  for (let index = 1; index < parts.length; index += 1) text += entry[place + index] + parts[index];
  return text;
};

// Members of an object by their text. Those without numbers are few.
Devtools.members = (text) => {
  let value = Devtools.known.get(text);
  if (!value) {
    value = JSON.parse(`{${text}}`);
    if (Devtools.known.size < 200000) Devtools.known.set(text, value);
  }
  return value;
};

// The same text is the same object.
Devtools.known = new Map();
Devtools.parsed = (text) => {
  let value = Devtools.known.get(text);
  if (!value) {
    if (Devtools.known.size > 200000) Devtools.known.clear();
    value = JSON.parse(text);
    Devtools.known.set(text, value);
  }
  return value;
};
