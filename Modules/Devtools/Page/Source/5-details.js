'use strict';
// What is known of the store that is selected, and of the program: in tabs.
Devtools.Details = class {
  constructor(model, connection, tree) {
    this.model = model;
    this.connection = connection;
    this.tree = tree;
    this.node = null;
    this.tab = 'explanation';
    this.panel = Devtools.byID('panel');
    this.known = {};
    this.openParts = new Set(['']);
    this.isAsking = false;
    this.makeTabs();
  }

  get tabs() {
    const tabs = [['explanation', 'Explanation'], ['value', 'Value'], ['events', 'Events'], ['limits', 'Limits']];
    if (this.model.hello.actions && this.model.simulation) tabs.push(['simulation', 'Simulate']);
    return tabs;
  }

  makeTabs() {
    const tabs = this.tabs;
    if (!tabs.some(([name]) => name === this.tab)) this.tab = 'explanation';
    Devtools.fill(Devtools.byID('tabs'), ...tabs.map(([name, title]) => Devtools.element('button', {
      type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'panel', 'aria-selected': String(name === this.tab),
      tabindex: name === this.tab ? '0' : '-1',
      on: { click: () => this.show(name), keydown: (event) => this.tabKey(event, tabs) },
    }, title)));
    this.panel.setAttribute('aria-labelledby', `tab-${this.tab}`);
    this.tabCount = tabs.length;
  }

  tabKey(event, tabs) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const index = tabs.findIndex(([name]) => name === this.tab);
    this.show(tabs[(index + step + tabs.length) % tabs.length][0]);
    Devtools.byID(`tab-${this.tab}`).focus();
    event.preventDefault();
  }

  show(tab) {
    this.tab = tab;
    this.known = {};
    this.makeTabs();
    this.update(true);
  }

  select(node) {
    this.node = node;
    this.known = {};
    this.openParts = new Set(['']);
    this.update(true);
  }

  // Draws again what has changed. Called a few times a second.
  update(isNew = false) {
    if (this.tabs.length !== this.tabCount) this.makeTabs();
    Devtools.byID('details-title').textContent = this.node ? Devtools.pathText(this.node.path) : 'Store';
    this.drawActions();
    switch (this.tab) {
      case 'explanation': this.explain(isNew); break;
      case 'value': this.showValue(isNew); break;
      case 'events': this.drawEvents(); break;
      case 'limits': this.drawLimits(); break;
      default: this.drawSimulation(isNew);
    }
  }

  // Draws a panel, unless what it would show is there already.
  draw(key, make) {
    if (this.known.drawn === key) return;
    this.known.drawn = key;
    const { scrollTop } = this.panel;
    const focus = this.panel.contains(document.activeElement) ? document.activeElement.id : '';
    Devtools.fill(this.panel, ...make());
    this.panel.scrollTop = scrollTop;
    if (focus) Devtools.byID(focus)?.focus();
  }

  hint(text) {
    this.draw(`hint ${text}`, () => [Devtools.element('p', { class: 'empty' }, text)]);
  }

  drawActions() {
    const row = this.node?.row;
    const key = this.model.hello.actions && this.node ? `${this.node.key} ${row?.canBeStale} ${row?.status === 'loading'}` : '';
    if (this.actionKey === key) return;
    this.actionKey = key;
    const node = this.node;
    const button = (title, action, name, options = {}) => Devtools.element('button', {
      type: 'button', title: name, 'data-action': action.action, ...options, on: { click: () => this.perform(action, title) },
    }, title);
    const buttons = [];
    if (key !== '' && row) {
      const store = row.id;
      if (row.canBeStale) buttons.push(button('Refetch', { action: 'refetch', store }, 'Run the operation now (R)'));
      buttons.push(button('Invalidate', { action: 'invalidate', store }, 'Mark the value as stale, and run for subscribers (I)'));
      buttons.push(button('Cancel', { action: 'cancel', store }, 'Cancel the runs under way', { disabled: row.status !== 'loading' }));
      buttons.push(button('Reset', { action: 'reset', store }, 'Back to the initial state', { class: 'danger' }));
    } else if (key !== '') {
      const below = [...this.model.rows.entries()].find(([, other]) => node.path.every((part, index) => other.path[index] === part));
      if (below) {
        buttons.push(button('Invalidate all', { action: 'invalidate', store: below[0], depth: node.path.length },
          'Mark all values below as stale'));
      }
    }
    Devtools.fill(Devtools.byID('actions'), ...buttons);
  }

  async perform(action, title) {
    try {
      await this.connection.act(action);
      Devtools.toast(`${title}: done`);
    } catch (error) {
      Devtools.toast(error.message);
    }
    this.known.version = null;
  }

  // By a key of the keyboard.
  performKey(name) {
    document.querySelector(`#actions [data-action="${name}"]:not(:disabled)`)?.click();
  }

  // ---- Explanation

  async explain(isNew) {
    const row = this.node?.row;
    if (!this.node) return this.hint('Select a store to read what it does and why.');
    if (!row) return this.drawBranch();
    if (!this.model.hello.live) {
      const explanation = this.model.explanations.get(row.id);
      return explanation ? this.drawExplanation(explanation) : this.hint('The recording has no explanation of this store.');
    }
    await this.ask(`/api/explanation?store=${row.id}`, isNew, (explanation) => this.drawExplanation(explanation));
  }

  // Asks the program again when something has happened, but only one question at a time.
  async ask(path, isNew, use) {
    const second = Math.floor(this.model.now());
    const version = `${path} ${this.node.row.status} ${this.node.activity} ${second}`;
    if (this.isAsking || (!isNew && this.known.version === version)) return;
    this.known.version = version;
    this.isAsking = true;
    const { node, tab } = this;
    const isWanted = () => this.node === node && this.tab === tab;
    try {
      const answer = await (await this.connection.get(path)).json();
      if (isWanted()) use(answer);
    } catch {
      if (isWanted() && isNew) this.hint('The store is no longer there.');
    } finally {
      this.isAsking = false;
    }
    if (!isWanted()) this.update(true);
  }

  drawExplanation(explanation) {
    this.draw(JSON.stringify(explanation.lines), () => {
      const { element } = Devtools;
      const [headline, ...lines] = explanation.lines;
      const facts = lines.filter((line) => !line.startsWith('Modifiers, '))
        .map((line) => element('li', { class: line.startsWith('  ') ? 'sub' : null, 'data-tone': this.tone(line) }, line.trim()));
      const parts = [
        element('div', { class: 'headline' }, headline, element('small', {}, explanation.kind)),
        element('ul', { class: 'facts' }, ...facts),
      ];
      if (explanation.modifiers.length > 0) {
        parts.push(element('p', { class: 'title' }, 'Modifiers, from the outside in'));
        parts.push(element('div', { class: 'codes' }, ...explanation.modifiers.map((text) => element('code', {}, text))));
      }
      return parts;
    });
  }

  tone(line) {
    if (/waited for|paused|does not run by itself|optimistic/.test(line)) return 'wait';
    if (/A run is under way/.test(line)) return 'busy';
    if (/last result is an error|: failed/.test(line)) return 'bad';
    if (/is fresh|succeeded/.test(line)) return 'good';
    if (/ stale/.test(line)) return 'wait';
    return null;
  }

  drawBranch() {
    const counts = this.node.counts;
    this.draw(`branch ${JSON.stringify(counts)}`, () => {
      const { element } = Devtools;
      const items = [
        ['stores', counts.stores], ['running', counts.running], ['paused', counts.paused], ['failing', counts.failing],
        ['errors so far', counts.errors], ['subscribers', counts.subscribers],
      ];
      return [
        element('div', { class: 'headline' }, Devtools.pathText(this.node.path), element('small', {}, 'a part of the tree')),
        element('div', { class: 'card' }, element('dl', {},
          ...items.flatMap(([name, number]) => [element('dt', {}, name), element('dd', {}, Devtools.number(number))]))),
      ];
    });
  }

  // ---- Events

  drawEvents() {
    const path = this.node?.path ?? [];
    const isBelow = (event) => path.every((part, index) => event.path[index] === part);
    const events = [];
    for (let index = this.model.events.length - 1; index >= 0 && events.length < 200; index -= 1) {
      if (isBelow(this.model.events[index])) events.push(this.model.events[index]);
    }
    if (events.length === 0) return this.hint('Nothing has happened yet.');
    this.draw(`events ${events[0].number} ${events.length} ${this.node?.key}`, () => [
      Devtools.element('ul', { class: 'events' }, ...events.map((event) => Devtools.element('li', {},
        Devtools.element('time', {}, Devtools.time(event.date)),
        Devtools.element('i', { style: { background: `var(--cause-${Devtools.causeGroup(event.cause ?? 'none')})` } }),
        Devtools.element('span', {}, this.node?.row && path.length === event.path.length
          ? event.text : `${Devtools.pathText(event.path)}: ${event.text}`),
      ))),
    ]);
  }
};
