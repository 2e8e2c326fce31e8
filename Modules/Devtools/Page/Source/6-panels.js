'use strict';
// The tabs with a value, with limits, and with what can be simulated.
Object.assign(Devtools.Details.prototype, {
  async showValue(isNew) {
    const row = this.node?.row;
    if (!row) return this.hint('Select a store to see its value.');
    if (!this.model.hello.live) return this.hint('A recording has no values.');
    if (this.editing) return;
    await this.ask(`/api/value?store=${row.id}`, isNew, (answer) => this.drawValue(answer));
  },

  drawValue(answer) {
    this.rememberValue(answer);
    this.draw(`${JSON.stringify(answer)} ${this.seenValues.length} ${this.compared}`, () => {
      const { element } = Devtools;
      const parts = [element('div', { class: 'value' }, this.valueElement(answer.value, '', 0))];
      parts.push(...this.differenceParts());
      if (answer.calls) parts.push(element('p', { class: 'title' }, 'Calls, newest first, with their arguments'), this.callList(answer.calls));
      if (answer.editable !== undefined && this.model.hello.actions) {
        parts.push(element('p', { class: 'title' }, 'Set a value'));
        parts.push(element('button', { type: 'button', id: 'edit', on: { click: () => this.edit(answer) } }, 'Edit as JSON…'));
      }
      return parts;
    });
  },

  // The calls of a mutation.
  callList(calls) {
    const { element } = Devtools;
    if (calls.length === 0) return element('p', { class: 'type' }, 'It has not been called.');
    const words = { running: 'is running', success: 'succeeded', failure: 'failed' };
    const tones = { running: 'busy', success: 'good', failure: 'bad' };
    return element('ul', { class: 'facts calls' }, ...calls.map((call) => element('li', { 'data-tone': tones[call.status] },
      `${Devtools.time(call.date)}: run ${call.run} ${words[call.status]}${call.error ? `: ${call.error}` : ''}`,
      element('div', { class: 'value' }, this.valueElement({ ...call.arguments, label: 'arguments' }, `call ${call.run}`, 1)))));
  },

  valueElement(node, path, depth) {
    const { element } = Devtools;
    const key = node.label === undefined ? [] : [element('span', { class: 'key' }, node.label), ': '];
    if (node.secret) return element('div', { class: 'leaf' }, ...key, element('span', { class: 'secret' }, `${node.type}, secret`));
    if (!node.children) {
      const text = node.text ?? (node.leftOut ? '…' : 'empty');
      const isText = node.type === 'String';
      const style = isText ? 'text' : /^-?[\d.]+$|^(true|false)$/.test(text) ? 'number' : 'plain';
      return element('div', { class: 'leaf', title: node.type }, ...key,
        element('span', { class: style }, isText ? JSON.stringify(text) : text));
    }
    const known = this.openParts.has(path) || (depth < 2 && !this.openParts.has(`-${path}`));
    const count = node.children.length + (node.leftOut ?? 0);
    const details = element('details', { open: known },
      element('summary', {}, ...key, element('span', { class: 'type' }, `${node.type} `.trimStart(), `(${Devtools.number(count)})`)));
    // Only what is open has elements.
    const fill = () => {
      if (details.childElementCount > 1) return;
      node.children.forEach((child, index) => details.append(this.valueElement(child, `${path}/${index}`, depth + 1)));
      if (node.leftOut) details.append(element('div', { class: 'leaf type' }, `and ${Devtools.number(node.leftOut)} more`));
    };
    if (known) fill();
    details.addEventListener('toggle', () => {
      if (details.open) fill();
      this.openParts.delete(details.open ? `-${path}` : path);
      this.openParts.add(details.open ? path : `-${path}`);
    });
    return details;
  },

  edit(answer) {
    const { element } = Devtools;
    this.editing = true;
    const end = () => {
      this.editing = false;
      this.known = {};
      this.update(true);
    };
    const text = element('textarea', { 'aria-label': 'The value as JSON', spellcheck: 'false' });
    text.value = answer.editable;
    const set = async () => {
      try {
        await this.connection.act({ action: 'set', store: answer.store, value: text.value });
        Devtools.toast('The value is set');
        end();
      } catch (error) {
        Devtools.toast(error.message);
      }
    };
    Devtools.fill(this.panel, element('p', { class: 'title' }, 'The value as JSON'), text, element('p', { class: 'codes' },
      element('button', { type: 'button', id: 'set', on: { click: set } }, 'Set'),
      element('button', { type: 'button', on: { click: end } }, 'Leave it')));
    text.focus();
  },

  // ---- Limits

  drawLimits() {
    const limits = this.model.limits;
    if (limits.length === 0) {
      return this.hint('No limit, breaker or budget is shown. A program shows them with Devtools.show(_:).');
    }
    this.draw(`limits ${JSON.stringify(limits)}`, () => {
      const { element } = Devtools;
      return [element('div', { class: 'cards' }, ...limits.map((limit) => element('article', { class: 'card' },
        element('h3', {}, limit.name),
        element('p', {}, limit.text),
        element('dl', {}, ...Object.entries(limit.gauges).flatMap(([name, number]) => [
          element('dt', {}, name), element('dd', {}, number === null ? '∞' : String(Math.round(number * 1000) / 1000)),
        ])),
      )))];
    });
  },

  // ---- Simulation

  drawSimulation(isNew) {
    const simulation = this.model.simulation;
    if (!simulation) return this.hint('The program offers no Simulation.');
    // Not while a slider is moved.
    if (!isNew && this.panel.querySelector('input:active')) return;
    this.draw(`simulation ${JSON.stringify(simulation)}`, () => {
      const { element } = Devtools;
      const send = (change) => this.perform({ action: 'simulate', ...change }, 'Simulation');
      const slider = (id, title, value, limits, format, change) => {
        const output = element('output', { for: id }, format(value));
        const input = element('input', { id, type: 'range', ...limits, on: {
          input: () => { output.textContent = format(Number(input.value)); },
          change: () => send(change(Number(input.value))),
        } });
        input.value = String(value);
        return element('div', { class: 'field' }, element('label', { for: id }, title), input, output);
      };
      const offline = element('button', {
        type: 'button', id: 'offline', 'aria-pressed': String(simulation.offline),
        on: { click: () => send({ isOffline: !simulation.offline }) },
      }, simulation.offline ? 'Offline: the network is away' : 'Go offline');
      return [
        element('p', { class: 'title' }, 'Network'),
        element('div', { class: 'codes' }, offline),
        element('p', { class: 'title' }, 'Each attempt'),
        slider('latency', 'takes longer by', simulation.latency, { min: 0, max: 5, step: 0.1 },
          (seconds) => Devtools.duration(seconds).replace('0 µs', '0 s'), (latency) => ({ latency })),
        slider('failures', 'fails at a share of', simulation.failures, { min: 0, max: 1, step: 0.05 },
          (share) => `${Math.round(share * 100)} %`, (failures) => ({ failures })),
        element('p', { class: 'title' }, 'Memory'),
        element('div', { class: 'codes' }, element('button', {
          type: 'button', id: 'memory', on: { click: () => send({ value: 'memory' }) },
        }, 'Report critical memory pressure')),
      ];
    });
  },
});
