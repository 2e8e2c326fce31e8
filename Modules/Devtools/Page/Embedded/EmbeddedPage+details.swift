// Made by Scripts/devtools-page.
// swift-format-ignore-file
#if SwiftOperationDevtools
extension EmbeddedPage {
  static let details = ##"""
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
    this.eventSearch = '';
    this.onlyFailures = false;
    this.seenValues = [];
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
    this.changed?.();
  }

  select(node) {
    if (this.node?.key !== node?.key) {
      this.seenValues = [];
      this.compared = null;
      this.editing = false;
      this.openParts = new Set(['']);
    }
    this.node = node;
    this.known = {};
    this.update(true);
  }

  // Draws again what has changed. Called a few times a second.
  update(isNew = false) {
    if (this.tabs.length !== this.tabCount) this.makeTabs();
    const title = Devtools.byID('details-title');
    title.textContent = this.node ? Devtools.pathText(this.node.path) : 'Store';
    title.title = title.textContent;
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
    const key = this.model.hello.actions && this.node
      ? `${this.node.key} ${row?.canBeStale} ${row?.status === 'loading'} ${this.isHeld(row)} ${Boolean(this.model.simulation)}` : '';
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
      // Only where the program has a Simulation is there something that holds a run.
      if (this.model.simulation && row.canBeStale) {
        buttons.push(this.isHeld(row)
          ? button('Let it load', { action: 'release', store }, 'Let its runs go on', { 'aria-pressed': 'true' })
          : button('Keep loading', { action: 'hold', store }, 'Run it, and hold its runs until you let them go on'));
      }
      buttons.push(button('Fail', { action: 'fail', store }, 'Show an error, as if the last run had failed', { class: 'danger' }));
      buttons.push(button('Reset', { action: 'reset', store }, 'Back to the initial state', { class: 'danger' }));
      buttons.push(button('Remove', { action: 'remove', store }, 'Remove the store from the client', { class: 'danger' }));
    } else if (key !== '') {
      const below = [...this.model.rows.entries()].find(([, other]) => node.path.every((part, index) => other.path[index] === part));
      if (below) {
        buttons.push(button('Invalidate all', { action: 'invalidate', store: below[0], depth: node.path.length },
          'Mark all values below as stale'));
      }
    }
    Devtools.fill(Devtools.byID('actions'), ...buttons);
  }

  // Whether the page holds the runs of a store.
  isHeld(row) { return Boolean(row && this.model.simulation?.held?.includes(row.id)); }

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
    this.draw(`${JSON.stringify(explanation.lines)} ${this.invalidatedKey}`, () => {
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
      parts.push(...this.invalidatedParts());
      parts.push(element('div', { class: 'codes' }, element('button', {
        type: 'button', id: 'copy', title: 'Copy the explanation as text (C)', on: { click: () => Devtools.copy(explanation.lines.join('\n')) },
      }, 'Copy')));
      return parts;
    });
  }

  get invalidatedKey() {
    const stores = this.model.invalidations.get(this.node?.row?.operation);
    return stores ? `${stores.size} ${[...stores.values()].at(-1)?.date}` : '';
  }

  // The reverse of "by which mutation": what this operation has invalidated.
  invalidatedParts() {
    const stores = [...this.model.invalidations.get(this.node?.row?.operation)?.values() ?? []].reverse();
    if (stores.length === 0) return [];
    const { element } = Devtools;
    return [
      element('p', { class: 'title' }, `${this.node.row.operation} has invalidated ${Devtools.count(stores.length, 'store')}, the latest first`),
      element('ul', { class: 'links' }, ...stores.slice(0, 50).map((store) => element('li', {}, element('button', {
        type: 'button', on: { click: () => this.choosePath?.(store.path) },
      }, Devtools.pathText(store.path)), ` ${Devtools.time(store.date, 0)}${store.count > 1 ? `, ${Devtools.number(store.count)} times` : ''}`))),
    ];
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
};

"""##
}
#endif
