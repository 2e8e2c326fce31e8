'use strict';
// The stores as a tree. Only the rows in sight are elements, so ten thousand stores are as light as ten.
Devtools.Tree = class {
  static filters = [
    ['all', 'All', () => true],
    ['running', 'Running', (row) => row.status === 'loading'],
    ['failing', 'Failing', (row) => Devtools.isFailing(row)],
    ['paused', 'Paused', (row) => Boolean(row.paused)],
    ['stale', 'Stale', (row, now) => Devtools.isStale(row, now)],
    ['mutation', 'Mutations', (row) => row.kind === 'mutation'],
  ];

  constructor(model, select) {
    this.model = model;
    this.select = select;
    this.tree = Devtools.byID('tree');
    this.rows = Devtools.byID('rows');
    this.empty = Devtools.byID('empty');
    this.filter = '';
    this.shown = 'all';
    this.sort = 'path';
    this.list = [];
    this.selected = null;
    this.focus = 0;
    this.drawn = new Map();
    this.tree.addEventListener('scroll', () => this.draw());
    this.tree.addEventListener('keydown', (event) => this.key(event));
    this.rows.addEventListener('click', (event) => this.click(event));
    new ResizeObserver(() => this.draw()).observe(this.tree);
    this.makeChips();
  }

  get rowHeight() { return window.matchMedia('(max-width: 760px)').matches ? 36 : 28; }

  makeChips() {
    this.chips = Devtools.Tree.filters.map(([name, title]) => {
      const count = Devtools.element('b');
      const button = Devtools.element('button', {
        type: 'button', 'aria-pressed': String(name === this.shown), 'data-filter': name,
        on: { click: () => this.setShown(name) },
      }, `${title} `, count);
      return { name, button, count };
    });
    Devtools.fill(Devtools.byID('chips'), ...this.chips.map((chip) => chip.button));
  }

  setShown(name) {
    this.shown = name;
    for (const chip of this.chips) chip.button.setAttribute('aria-pressed', String(chip.name === name));
    this.update();
    this.changed?.();
  }

  // Makes the list of the nodes to show. Called a few times a second, not with each message.
  update() {
    const now = this.model.now();
    const predicate = Devtools.Tree.filters.find(([name]) => name === this.shown)[2];
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const isNarrowed = words.length > 0 || this.shown !== 'all';
    const matches = (node) => {
      if (!node.row || !predicate(node.row, now)) return false;
      if (words.length === 0) return true;
      const text = `${node.path.map(Devtools.label).join('/')} ${node.row.operation}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    this.list = [];
    if (this.sort === 'path') {
      this.flatten(this.model.root, isNarrowed, matches);
    } else {
      for (const node of this.model.rows.values()) {
        if (matches(node)) this.list.push(node);
      }
      const keys = new Map(this.list.map((node) => [node, this.sortKey(node, now)]));
      this.list.sort((a, b) => keys.get(b) - keys.get(a) || (a.key < b.key ? -1 : 1));
    }
    for (const chip of this.chips) chip.count.textContent = this.countText(chip.name);
    this.empty.hidden = this.list.length > 0;
    this.empty.textContent = this.model.rows.size === 0
      ? 'The client has no stores yet. They appear here as soon as the program uses an operation.'
      : 'No store matches the filter.';
    this.focus = Math.min(this.focus, Math.max(this.list.length - 1, 0));
    this.tree.setAttribute('aria-rowcount', String(this.list.length + 1));
    this.draw();
  }

  countText(name) {
    const counts = this.model.root.counts;
    const numbers = { all: counts.stores, running: counts.running, failing: counts.failing, paused: counts.paused };
    return numbers[name] === undefined ? '' : Devtools.number(numbers[name]);
  }

  sortKey(node, now) {
    const row = node.row;
    switch (this.sort) {
      case 'activity': return Math.max(node.activity, row.valueDate ?? 0, row.errorDate ?? 0);
      case 'rate': return this.model.rate(node, now);
      case 'errors': return row.errors;
      case 'age': return row.valueDate ? now - row.valueDate : -1;
      default: return row.subscribers;
    }
  }

  // Adds the children of a node that are to be shown. Returns whether there is one.
  flatten(node, isNarrowed, matches) {
    let isAny = false;
    const children = [...node.children.values()].sort(Devtools.Tree.order);
    for (const child of children) {
      const index = this.list.length;
      this.list.push(child);
      const isMatch = matches(child);
      let isBelow = false;
      if (child.children.size > 0 && (child.isOpen || isNarrowed)) {
        isBelow = this.flatten(child, isNarrowed, matches);
        if (!isNarrowed) isBelow = true;
      }
      if (isMatch || isBelow || (!isNarrowed && child.children.size > 0)) {
        isAny = true;
      } else {
        this.list.length = index;
      }
    }
    return isAny;
  }

  static order(a, b) {
    return Devtools.compare(a.label, b.label);
  }

  // ---- Drawing

  draw() {
    const height = this.rowHeight;
    const now = this.model.now();
    this.rows.style.setProperty('height', `${this.list.length * height}px`);
    const top = Math.max(0, this.tree.scrollTop - 26);
    const first = Math.max(0, Math.floor(top / height) - 4);
    const last = Math.min(this.list.length, Math.ceil((top + this.tree.clientHeight) / height) + 4);
    const wanted = new Set();
    for (let index = first; index < last; index += 1) {
      const node = this.list[index];
      wanted.add(node);
      let drawn = this.drawn.get(node);
      if (!drawn) {
        drawn = this.makeRow(node);
        this.drawn.set(node, drawn);
        this.rows.append(drawn.row);
      }
      this.fillRow(drawn, node, index, height, now);
    }
    for (const [node, drawn] of this.drawn) {
      if (!wanted.has(node)) {
        drawn.row.remove();
        this.drawn.delete(node);
      }
    }
  }

  makeRow(node) {
    const { element } = Devtools;
    const parts = {
      twist: element('span', { class: 'twist', 'aria-hidden': 'true' }),
      label: element('span', { class: 'label' }),
      operation: element('span', { class: 'operation' }),
      badge: element('span', { class: 'badge', hidden: true }),
      state: element('span', { class: 'state', role: 'gridcell' }),
      rate: element('span', { class: 'num', role: 'gridcell' }),
      errors: element('span', { class: 'num', role: 'gridcell' }),
      readers: element('span', { class: 'num', role: 'gridcell' }),
      age: element('span', { class: 'num', role: 'gridcell' }),
    };
    const path = element('span', { class: 'cell-path', role: 'gridcell' }, parts.twist, parts.label, parts.operation, parts.badge);
    const row = element('div', { class: 'row', role: 'row', id: `row-${Devtools.Tree.lastID += 1}` },
      path, parts.state, parts.rate, parts.errors, parts.readers, parts.age);
    row.node = node;
    return { row, path, ...parts };
  }

  fillRow(drawn, node, index, height, now) {
    const { row } = drawn;
    const isFlat = this.sort !== 'path';
    const isBranch = node.children.size > 0 && !isFlat;
    row.style.setProperty('transform', `translateY(${index * height}px)`);
    row.setAttribute('aria-rowindex', String(index + 2));
    row.setAttribute('aria-level', String(isFlat ? 1 : node.level + 1));
    row.setAttribute('aria-selected', String(node === this.selected));
    row.toggleAttribute('data-focus', index === this.focus);
    if (isBranch) row.setAttribute('aria-expanded', String(node.isOpen || this.filter !== '' || this.shown !== 'all'));
    else row.removeAttribute('aria-expanded');
    drawn.path.style.setProperty('--level', String(isFlat ? 0 : node.level));
    this.text(drawn.twist, isBranch ? '▶' : '');
    this.text(drawn.label, isFlat ? Devtools.pathText(node.path) : node.label);
    // The node of a fleet that has made the last value.
    const fleetNode = node.fleetNode ? ` · ${node.fleetNode}` : '';
    this.text(drawn.operation, node.row ? node.row.operation + fleetNode : '');
    // What is cut off is read there.
    const title = `${Devtools.pathText(node.path)}${node.row ? `\n${node.row.operation}${fleetNode}` : ''}`;
    if (drawn.path.title !== title) drawn.path.title = title;
    const counts = node.counts;
    const data = node.row;
    const badge = data?.layers ? `${data.layers} optimistic` : !data || isBranch ? Devtools.count(counts.stores, 'store') : '';
    drawn.badge.hidden = badge === '';
    this.text(drawn.badge, badge);
    const [word, tone] = data ? Devtools.stateOf(data, now) : this.summary(counts);
    this.text(drawn.state, word);
    if (drawn.state.dataset.tone !== tone) drawn.state.dataset.tone = tone;
    drawn.state.title = data?.error ?? data?.attemptFailure ?? '';
    const rate = data ? this.model.rate(node, now) : 0;
    this.text(drawn.rate, rate > 0 ? rate.toFixed(1) : '');
    const errors = data ? data.errors : counts.errors;
    this.text(drawn.errors, errors > 0 ? Devtools.number(errors) : '');
    drawn.errors.classList.toggle('bad', errors > 0);
    const readers = data ? data.subscribers : counts.subscribers;
    this.text(drawn.readers, readers > 0 ? Devtools.number(readers) : '');
    this.text(drawn.age, data?.valueDate ? Devtools.age(now - data.valueDate) : '');
    if (index === this.focus) this.tree.setAttribute('aria-activedescendant', row.id);
  }

  summary(counts) {
    if (counts.failing > 0) return [`${Devtools.number(counts.failing)} failing`, 'bad'];
    if (counts.paused > 0) return [`${Devtools.number(counts.paused)} paused`, 'wait'];
    if (counts.running > 0) return [`${Devtools.number(counts.running)} running`, 'busy'];
    return ['quiet', 'idle'];
  }

  text(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  // ---- Choosing

  click(event) {
    const row = event.target.closest('.row');
    if (!row) return;
    const node = row.node;
    this.focus = this.list.indexOf(node);
    if (event.target.closest('.twist') || (!node.row && node.children.size > 0)) this.toggle(node);
    this.choose(node);
  }

  choose(node) {
    this.selected = node;
    this.select(node);
    this.draw();
  }

  toggle(node, isOpen = !node.isOpen) {
    this.model.setOpen(node, isOpen);
    this.update();
  }

  // Opens what is above a node, and shows it.
  reveal(node) {
    for (let above = node.parent; above; above = above.parent) this.model.setOpen(above, true);
    this.update();
    this.move(this.list.indexOf(node));
    this.choose(node);
  }

  move(index) {
    if (index < 0 || index >= this.list.length) return;
    this.focus = index;
    const height = this.rowHeight;
    const top = index * height;
    if (top < this.tree.scrollTop) this.tree.scrollTop = top;
    const bottom = top + height + 26 - this.tree.clientHeight;
    if (bottom > this.tree.scrollTop) this.tree.scrollTop = bottom;
    this.draw();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const node = this.list[this.focus];
    const page = Math.max(1, Math.floor(this.tree.clientHeight / this.rowHeight) - 2);
    switch (event.key) {
      case 'ArrowDown': this.move(this.focus + 1); break;
      case 'ArrowUp': this.move(this.focus - 1); break;
      case 'PageDown': this.move(Math.min(this.focus + page, this.list.length - 1)); break;
      case 'PageUp': this.move(Math.max(this.focus - page, 0)); break;
      case 'Home': this.move(0); break;
      case 'End': this.move(this.list.length - 1); break;
      case 'ArrowRight':
        if (!node) return;
        if (node.children.size > 0 && !node.isOpen) this.toggle(node, true);
        else this.move(this.focus + 1);
        break;
      case 'ArrowLeft':
        if (!node) return;
        if (node.children.size > 0 && node.isOpen) this.toggle(node, false);
        else if (node.parent) this.move(this.list.indexOf(node.parent));
        break;
      case 'Enter': case ' ': if (node) this.choose(node); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
};
Devtools.Tree.lastID = 0;
