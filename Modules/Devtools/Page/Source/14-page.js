'use strict';
// The page as a whole: it puts the parts together, and draws what has changed a few times a second.
Devtools.Page = class {
  constructor() {
    this.model = new Devtools.Model();
    this.connection = new Devtools.Connection((message) => this.receive(message), (state, text) => this.showConnection(state, text));
    this.tree = new Devtools.Tree(this.model, (node) => this.select(node));
    this.details = new Devtools.Details(this.model, this.connection, this.tree);
    this.timeline = new Devtools.Timeline(this.model, (path) => this.choosePath(path));
    this.waits = new Devtools.Waits(this.model, this.connection, (path) => this.choosePath(path));
    this.isStale = true;
    this.lastList = 0;
    this.lastStructure = -1;
    this.setTheme(localStorage.getItem('theme') ?? 'system');
    this.listen();
    this.makeSplitters();
    this.details.choosePath = (path) => this.choosePath(path);
    this.readAddress();
    for (const part of [this.tree, this.details]) part.changed = () => this.writeAddress();
    window.addEventListener('hashchange', () => this.readAddress());
    this.details.update(true);
    requestAnimationFrame(() => this.frame());
    this.connection.run();
  }

  receive(message, line) {
    if (!this.recording && message.type === 'hello' && !message.live) this.beginRecording();
    if (this.recording) {
      if (message.type === 'end') this.endOfRecording();
      else this.recording.add(message, line);
      return;
    }
    // After a new beginning there are other nodes: what was selected is found again by its path.
    if (message.type === 'hello') this.wanted = this.details.node?.path ?? this.wanted;
    this.model.apply(message);
    this.isStale = true;
    if (message.type === 'hello') this.showConnection('live', 'live');
    if (message.ready) this.findSelection(true);
  }

  // Selects the node at the wanted path, if it is there. Without one, what is shown stays.
  findSelection(isReady = false) {
    const path = this.wanted ?? this.details.node?.path;
    if (!path) return;
    const node = this.model.find(path);
    if (!node) {
      if (isReady && this.details.node) this.details.select(null);
      return;
    }
    this.wanted = null;
    if (this.details.node === node) return;
    this.tree.selected = node;
    this.details.select(node);
    this.timeline.selected = node.path;
    for (let above = node.parent; above; above = above.parent) this.model.setOpen(above, true);
  }

  showConnection(state, text) {
    const element = Devtools.byID('connection');
    element.dataset.state = state;
    element.textContent = text;
  }

  // ---- Drawing

  frame() {
    requestAnimationFrame(() => this.frame());
    const time = performance.now();
    const isLive = this.model.hello.live && this.timeline.follows;
    const isTimelineInSight = this.timeline.canvas.offsetParent !== null;
    if (isTimelineInSight && (isLive || this.isStale) && time - (this.lastLanes ?? 0) > 33) {
      this.lastLanes = time;
      this.timeline.draw();
    }
    if (!(this.isStale && time - this.lastList > 200) && time - this.lastList < 1000) return;
    this.lastList = time;
    this.isStale = false;
    if (this.lastStructure !== this.model.structure) {
      this.lastStructure = this.model.structure;
      this.openSmallTree();
      if (this.model.isReady) this.findSelection();
    }
    this.tree.update();
    this.details.update();
    this.waits.update();
    this.drawHead();
  }

  // A small tree is shown open. What was folded stays so.
  openSmallTree() {
    if (this.hasOpened || this.model.rows.size > 300 || !this.model.isReady) return;
    this.hasOpened = true;
    for (const node of this.model.rows.values()) {
      for (let above = node.parent; above; above = above.parent) above.isOpen = this.model.folds.get(above.key) ?? true;
    }
  }

  drawHead() {
    const { model } = this;
    const { element } = Devtools;
    Devtools.byID('program').textContent = model.hello.program ? `${model.hello.program} (${model.hello.process})` : '';
    const counts = model.root.counts;
    const time = performance.now();
    if (!this.rateStart || time - this.rateStart.time > 2000 || model.eventTotal < this.rateStart.total) {
      if (this.rateStart) this.eventRate = Math.max(0, model.eventTotal - this.rateStart.total) / ((time - this.rateStart.time) / 1000);
      this.rateStart = { time, total: model.eventTotal };
    }
    const items = [
      ['stores', counts.stores, null], ['running', counts.running, counts.running ? 'busy' : null],
      ['paused', counts.paused, counts.paused ? 'wait' : null], ['failing', counts.failing, counts.failing ? 'bad' : null],
      ['events/s', Math.round(this.eventRate ?? 0), null, 'no'],
    ];
    if (model.dropped > 0) items.push(['events missed', model.dropped, 'bad']);
    if (model.simulation?.offline) items.push(['offline', 'simulated', 'wait']);
    const key = JSON.stringify(items);
    if (this.headKey === key) return;
    this.headKey = key;
    Devtools.fill(Devtools.byID('counts'), ...items.map(([name, number, tone, small]) => element('div',
      { 'data-tone': tone, 'data-small': small, 'data-count': name },
      element('dd', {}, typeof number === 'number' ? Devtools.number(number) : number), element('dt', {}, name))));
  }

  select(node) {
    this.wanted = null;
    this.details.select(node);
    this.writeAddress();
    this.timeline.select(node.path);
    if (window.matchMedia('(max-width: 760px)').matches && node.row) this.setView('details');
  }

  choosePath(path) {
    const node = this.model.find(path);
    if (node) this.tree.reveal(node);
  }

  // ---- Recordings

  beginRecording() {
    this.recording = new Devtools.Recording(this.model);
    this.timeline.setRange(null);
    this.showConnection('recording', 'loading a recording');
  }

  endOfRecording() {
    this.connection.stop();
    this.hasOpened = false;
    Devtools.byID('scrub').hidden = false;
    this.showConnection('recording', 'recording');
    this.goTo(1);
    this.timeline.setFollows(false);
    this.timeline.fit();
  }

  async openRecording(file) {
    const before = this.recording;
    this.connection.stop();
    this.beginRecording();
    try {
      await Devtools.readRecording(file, this.recording);
    } catch (error) {
      this.recording = before;
      // What was shown is gone. The program tells it again.
      if (!before) this.reconnect();
      throw error;
    }
    this.endOfRecording();
    Devtools.toast('The page shows the recording. "Back to live" shows the program again.');
  }

  // Shows the program again after a recording.
  reconnect() {
    this.recording = null;
    this.model.clear();
    this.timeline.setRange(null);
    this.timeline.moment = null;
    this.timeline.setFollows(true);
    Devtools.byID('scrub').hidden = true;
    this.connection.isOn = true;
    this.connection.run();
  }

  // Shows the recording as it was after a share of its time.
  goTo(share) {
    const { model, recording } = this;
    const first = recording.first === Infinity ? recording.last : recording.first;
    const moment = first + (recording.last - first) * share;
    this.timeline.moment = moment;
    recording.show(moment);
    Devtools.byID('moment').value = String(Math.round(share * 1000));
    Devtools.byID('moment-text').textContent = Devtools.time(moment, 1);
    const node = this.details.node && model.find(this.details.node.path);
    if (this.details.node !== node) {
      this.tree.selected = node ?? null;
      this.details.node = node ?? null;
    }
    this.details.known = {};
    this.isStale = true;
  }

  play() {
    const button = Devtools.byID('play');
    if (this.player) {
      clearInterval(this.player);
      this.player = null;
      button.textContent = '▶';
      return;
    }
    button.textContent = '❚❚';
    const input = Devtools.byID('moment');
    if (Number(input.value) >= 1000) this.goTo(0);
    this.player = setInterval(() => {
      const share = Math.min(1, Number(input.value) / 1000 + 0.01);
      this.goTo(share);
      if (share >= 1) this.play();
    }, 100);
  }

  async save() {
    try {
      const text = this.recording
        ? this.recording.lines.join('\n')
        : await (await this.connection.get('/api/recording')).text();
      const address = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }));
      const name = `${this.model.hello.program ?? 'program'}-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.ndjson`;
      Devtools.element('a', { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 1000);
      Devtools.toast(`The recording is in ${name}`);
    } catch (error) {
      Devtools.toast(error.message);
    }
  }
};
