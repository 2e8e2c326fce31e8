'use strict';
// What waits for what: the runs of the client and the operations of each scheduler, as graphs and as lists.
Devtools.Waits = class {
  constructor(model, connection, choosePath) {
    this.model = model;
    this.connection = connection;
    this.choosePath = choosePath;
    this.panel = Devtools.byID('waits');
    this.isAsking = false;
    this.lastAsked = 0;
  }

  get isInSight() { return this.panel.offsetParent !== null; }

  // Asks the program, once a second while it is in sight, and draws what has changed.
  async update() {
    if (!this.isInSight) return;
    if (!this.model.hello.live) return this.draw(this.model.waits?.graphs ?? null);
    const time = performance.now();
    if (this.isAsking || time - this.lastAsked < 800) return;
    this.lastAsked = time;
    this.isAsking = true;
    try {
      this.draw((await (await this.connection.get('/api/waits')).json()).graphs);
    } catch {
      // The head of the page tells that the program has gone.
    } finally {
      this.isAsking = false;
    }
  }

  draw(graphs) {
    const key = JSON.stringify(graphs);
    if (this.drawn === key) return;
    this.drawn = key;
    const { element, fill } = Devtools;
    if (graphs === null) return fill(this.panel, element('p', { class: 'empty' }, 'The recording has no waits.'));
    // A node has another number after each change, so what has the focus is found again by its text.
    const focus = this.panel.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const { scrollTop } = this.panel;
    fill(this.panel, ...graphs.map((graph, index) => this.section(graph, index)));
    this.panel.scrollTop = scrollTop;
    if (focus) [...this.panel.querySelectorAll('[data-key]')].find((each) => each.dataset.key === focus)?.focus();
  }

  section(graph, index) {
    const { element } = Devtools;
    const drawing = new Devtools.Graph(graph);
    const title = element('h3', { id: `waits-${index}` }, `${graph.name} `, element('small', {}, graph.summary));
    if (graph.leftOut > 0) title.append(element('small', {}, `, of which ${Devtools.number(graph.leftOut)} are left out`));
    if (drawing.nodes.length === 0) {
      return element('section', { 'aria-labelledby': `waits-${index}` }, title, element('p', {}, 'Nothing runs or waits.'));
    }
    const choose = (node) => { if (node.path) this.choosePath(node.path); };
    const light = (id) => drawing.light(id);
    const picture = element('div', { class: 'picture' });
    picture.append(drawing.draw(choose, light));
    const items = drawing.nodes.filter((node) => node.kind === 'operation')
      .map((node) => this.item(node, drawing, `${graph.name}/${node.name}/${node.path}`, choose, light));
    const list = element('ul', { 'aria-label': `${graph.name}: what waits for what`, on: { keydown: (event) => this.key(event) } }, ...items);
    list.querySelector('button')?.setAttribute('tabindex', '0');
    return element('section', { 'aria-labelledby': `waits-${index}` }, title, element('div', { class: 'graph' }, picture, list));
  }

  // The sentence of an operation. The words say what the picture shows.
  item(node, drawing, key, choose, light) {
    const { element } = Devtools;
    const place = node.path ? ` at ${Devtools.pathText(node.path)}` : '';
    const waits = drawing.edges.filter((edge) => edge.from === node).map((edge) => {
      const target = edge.to.path ? `${edge.to.name} at ${Devtools.pathText(edge.to.path)}` : edge.to.name;
      return edge.reason ? `${target} (${edge.reason})` : target;
    });
    const button = element('button', {
      type: 'button', tabindex: '-1', 'data-key': key, 'data-tone': Devtools.Graph.tone(node),
      on: {
        click: () => choose(node),
        focus: () => {
          light(node.id);
          drawing.show(node);
        },
        blur: () => light(null),
      },
    }, element('b', {}, node.name + place), ` ${node.state}`,
      waits.length > 0 ? `: ${node.state.startsWith('waits') ? '' : 'waits for '}${waits.join(', ')}` : '');
    button.addEventListener('pointerenter', () => light(node.id));
    button.addEventListener('pointerleave', () => light(null));
    return element('li', {}, button);
  }

  // One stop for the tabulator in each list, and arrows within it.
  key(event) {
    const buttons = [...event.currentTarget.querySelectorAll('button')];
    const index = buttons.indexOf(document.activeElement);
    const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (next === undefined || !buttons[next]) return;
    for (const button of buttons) button.tabIndex = -1;
    buttons[next].tabIndex = 0;
    buttons[next].focus();
    event.preventDefault();
    event.stopPropagation();
  }
};
