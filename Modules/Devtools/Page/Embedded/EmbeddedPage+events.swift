// Made by Scripts/devtools-page.
// swift-format-ignore-file
#if SwiftOperationDevtools
extension EmbeddedPage {
  static let events = ##"""
'use strict';
// The tab with events, which can be searched, and the difference of two values.
Object.assign(Devtools.Details.prototype, {
  // The newest events of the node and of what is below it, with all words of the search.
  foundEvents() {
    const path = this.node?.path ?? [];
    const words = this.eventSearch.toLowerCase().split(/\s+/).filter(Boolean);
    const isWanted = (event) => {
      if (this.onlyFailures && !Devtools.isFailure(event)) return false;
      if (!path.every((part, index) => event.path[index] === part)) return false;
      if (words.length === 0) return true;
      const text = `${event.path.map(Devtools.label).join('/')} ${event.operation} ${event.text} ${event.kind}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const events = this.model.eventsBefore(this.model.now(), isWanted, 200);
    return events;
  },

  drawEvents() {
    const { element } = Devtools;
    const events = this.foundEvents();
    const key = `${this.node?.key} ${this.eventSearch} ${this.onlyFailures} ${events[0]?.number} ${events.length}`;
    if (!this.panel.querySelector('#events')) this.known.drawn = null;
    if (this.known.drawn === null || this.known.drawn === undefined) this.makeEventPanel();
    if (this.known.drawn === key) return;
    this.known.drawn = key;
    const isExact = (event) => this.node?.row && this.node.path.length === event.path.length;
    Devtools.fill(Devtools.byID('events'), ...events.map((event) => element('li', { 'data-tone': Devtools.isFailure(event) ? 'bad' : null },
      element('time', {}, Devtools.time(event.date)),
      element('i', {
        style: { background: Devtools.isFailure(event) ? 'var(--bad)' : `var(--cause-${Devtools.causeGroup(event.cause ?? 'none')})` },
      }),
      element('span', {}, isExact(event) ? event.text : `${Devtools.pathText(event.path)}: ${event.text}`),
    )));
    const hasSearch = this.eventSearch !== '' || this.onlyFailures;
    Devtools.byID('events-none').hidden = events.length > 0;
    Devtools.byID('events-none').textContent = hasSearch ? 'No event matches.' : 'Nothing has happened yet.';
  },

  makeEventPanel() {
    const { element } = Devtools;
    const search = element('input', {
      type: 'search', id: 'event-search', placeholder: 'Search events', 'aria-label': 'Search events', autocomplete: 'off',
      on: { input: () => {
        this.eventSearch = search.value;
        this.drawEvents();
      } },
    });
    search.value = this.eventSearch;
    const failures = element('button', {
      type: 'button', id: 'only-failures', 'aria-pressed': String(this.onlyFailures),
      on: { click: () => {
        this.onlyFailures = !this.onlyFailures;
        failures.setAttribute('aria-pressed', String(this.onlyFailures));
        this.drawEvents();
      } },
    }, 'Failures only');
    Devtools.fill(this.panel, element('div', { class: 'search' }, search, failures),
      element('p', { id: 'events-none', class: 'empty', hidden: true }), element('ul', { id: 'events', class: 'events' }));
    this.known.drawn = '';
  },

  // ---- The difference of two values

  // Remembers the values that were seen of the store, ten at most.
  rememberValue(answer) {
    const text = JSON.stringify(answer.value);
    if (this.seenValues.at(-1)?.text === text) return;
    this.seenValues.push({ text, value: answer.value, date: answer.date ?? this.model.now() });
    if (this.seenValues.length > 10) this.seenValues.shift();
  },

  // The choice of an earlier value, and how the present one differs from it.
  differenceParts() {
    const { element } = Devtools;
    const earlier = this.seenValues.slice(0, -1);
    if (earlier.length === 0) return [];
    const select = element('select', { id: 'compare', 'aria-label': 'Compare with an earlier value', on: { change: () => {
      this.compared = select.value === '' ? null : select.value;
      this.known = {};
      this.update(true);
    } } }, element('option', { value: '' }, 'no other value'),
    ...earlier.map((seen) => element('option', { value: String(seen.date) }, `the value seen at ${Devtools.time(seen.date)}`)).reverse());
    const other = earlier.find((seen) => String(seen.date) === this.compared);
    select.value = other ? this.compared : '';
    const parts = [element('p', { class: 'title' }, element('label', { class: 'select' }, 'Compare with ', select))];
    if (other) parts.push(this.differenceElement(other.value, this.seenValues.at(-1).value));
    return parts;
  },

  differenceElement(before, after) {
    const { element } = Devtools;
    const changes = Devtools.difference(before, after);
    if (changes.length === 0) return element('p', { class: 'type' }, 'They show the same.');
    return element('ul', { class: 'difference', 'aria-label': 'Differences' }, ...changes.slice(0, 200).map((change) => element('li', {},
      element('span', { class: 'key' }, change.path || 'value'), ' ',
      change.before === undefined ? null : element('del', {}, change.before), ' ',
      change.after === undefined ? null : element('ins', {}, change.after))),
    changes.length > 200 ? element('li', {}, `and ${Devtools.number(changes.length - 200)} more`) : null);
  },
});

// The parts of two values that differ, with their paths: texts, or undefined for a part that the other value does not have.
Devtools.difference = (before, after, path = '') => {
  const text = (node) => node.secret ? `${node.type}, secret` : node.text ?? (node.children ? `${node.type} (${node.children.length})` : node.type);
  const name = (label) => path === '' ? label : `${path}.${label}`;
  if (!before.children || !after.children) {
    const [old, now] = [text(before), text(after)];
    return old === now && !before.children === !after.children ? [] : [{ path, before: old, after: now }];
  }
  const changes = before.type === after.type ? [] : [{ path, before: before.type, after: after.type }];
  const rest = new Map(after.children.map((child) => [child.label, child]));
  for (const child of before.children) {
    const other = rest.get(child.label);
    rest.delete(child.label);
    if (other) changes.push(...Devtools.difference(child, other, name(child.label)));
    else changes.push({ path: name(child.label), before: text(child) });
  }
  for (const child of rest.values()) changes.push({ path: name(child.label), after: text(child) });
  return changes;
};

"""##
}
#endif
