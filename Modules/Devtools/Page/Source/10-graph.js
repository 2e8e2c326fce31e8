'use strict';
// Places and draws a graph of waits: who waits is to the left of what it waits for.
Devtools.Graph = class {
  static box = { width: 186, height: 40, column: 268, row: 54 };

  constructor(graph) {
    this.nodes = graph.nodes.map((node) => ({ ...node, after: [], before: [], column: 0, place: 0 }));
    this.byID = new Map(this.nodes.map((node) => [node.id, node]));
    this.edges = [];
    for (const edge of graph.edges) {
      const [from, to] = [this.byID.get(edge.from), this.byID.get(edge.to)];
      if (!from || !to) continue;
      this.edges.push({ from, to, reason: edge.reason });
      from.after.push(to);
      to.before.push(from);
    }
    this.placeColumns();
    this.placeRows();
  }

  // A node is one column to the right of the last of those that wait for it. A wait that closes a cycle goes back.
  placeColumns() {
    const done = new Set();
    const open = new Set();
    const visit = (start) => {
      const stack = [[start, 0]];
      open.add(start);
      while (stack.length > 0) {
        const [node, index] = stack.at(-1);
        const waiter = node.before[index];
        if (waiter === undefined) {
          stack.pop();
          open.delete(node);
          done.add(node);
          node.column = Math.max(0, ...node.before.filter((each) => done.has(each) && each !== node).map((each) => each.column + 1));
        } else {
          stack.at(-1)[1] += 1;
          if (!done.has(waiter) && !open.has(waiter)) {
            open.add(waiter);
            stack.push([waiter, 0]);
          }
        }
      }
    };
    for (const node of this.nodes) if (!done.has(node)) visit(node);
  }

  // In each column, in the order of their neighbours, so that few lines cross. What waits for nothing and for which nothing waits
  // comes last.
  placeRows() {
    const columns = [];
    for (const node of this.nodes) (columns[node.column] ??= []).push(node);
    this.columns = columns.filter(Boolean);
    const settle = (column) => column.forEach((node, index) => { node.place = index; });
    for (const column of this.columns) {
      column.sort((a, b) => (a.after.length + a.before.length === 0) - (b.after.length + b.before.length === 0));
      settle(column);
    }
    const middle = (nodes, node) => nodes.length === 0 ? node.place
      : nodes.reduce((sum, each) => sum + each.place, 0) / nodes.length;
    for (let round = 0; round < 4; round += 1) {
      const forward = round % 2 === 0;
      for (const column of forward ? this.columns : [...this.columns].reverse()) {
        const wanted = new Map(column.map((node) => [node, middle(forward ? node.before : node.after, node)]));
        column.sort((a, b) => wanted.get(a) - wanted.get(b));
        settle(column);
      }
    }
    this.rowCount = Math.max(0, ...this.columns.map((column) => column.length));
  }

  get width() { return Math.max(0, (this.columns.length - 1) * Devtools.Graph.box.column + Devtools.Graph.box.width) + 4; }

  get height() { return this.rowCount * Devtools.Graph.box.row + 2; }

  x(node) { return 2 + node.column * Devtools.Graph.box.column; }

  y(node) { return 2 + node.place * Devtools.Graph.box.row; }

  // The line of a wait, from the right of who waits to the left of what is waited for.
  line({ from, to }) {
    const { width, height, row } = Devtools.Graph.box;
    const [x1, y1] = [this.x(from) + width, this.y(from) + height / 2];
    const [x2, y2] = [this.x(to) - 7, this.y(to) + height / 2];
    const bend = x2 > x1 ? (x2 - x1) / 2 : 60;
    // Between the rows where it passes other columns.
    const dip = to.column - from.column > 1 ? row * 0.7 : 0;
    return `M${x1} ${y1}C${x1 + bend} ${y1 + dip} ${x2 - bend} ${y2 + dip} ${x2} ${y2}`;
  }

  // ---- Drawing

  static element(name, attributes, ...children) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    element.append(...children);
    return element;
  }

  static cut(text, length) { return text.length > length ? `${text.slice(0, length - 1)}…` : text; }

  // For those who see it: the list beside it says the same, and has the keys.
  draw(choose, light) {
    const { element, box, cut } = Devtools.Graph;
    const svg = element('svg', {
      width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}`, 'aria-hidden': 'true',
    });
    for (const edge of this.edges) {
      const line = this.line(edge);
      const tip = element('title', {}, `${edge.from.name} waits for ${edge.to.name}${edge.reason ? `: ${edge.reason}` : ''}`);
      const group = element('g', { class: 'edge', 'data-from': edge.from.id, 'data-to': edge.to.id }, tip,
        element('path', { d: line }), this.head(edge));
      if (edge.reason && this.edges.length <= 60 && this.x(edge.to) > this.x(edge.from)) {
        // The first one above the lines, the others below.
        const index = edge.from.after.indexOf(edge.to);
        const y = this.y(edge.from) + box.height / 2 + (index === 0 ? -5 : 12 * index);
        group.append(element('text', { x: this.x(edge.from) + box.width + 6, y }, cut(edge.reason, 12)));
      }
      svg.append(group);
    }
    for (const node of this.nodes) svg.append(this.drawNode(node, choose, light));
    this.svg = svg;
    return svg;
  }

  head(edge) {
    const [x, y] = [this.x(edge.to) - 1, this.y(edge.to) + Devtools.Graph.box.height / 2];
    return Devtools.Graph.element('path', { class: 'head', d: `M${x} ${y}l-7 -4v8z` });
  }

  drawNode(node, choose, light) {
    const { element, box, cut } = Devtools.Graph;
    const [x, y] = [this.x(node), this.y(node)];
    const place = node.path ? Devtools.pathText(node.path) : '';
    const detail = [place, node.state].filter(Boolean).join(' · ');
    const group = element('g', { class: 'node', 'data-node': node.id, 'data-tone': Devtools.Graph.tone(node) },
      element('title', {}, [node.name, place, node.state].filter(Boolean).join('\n')),
      element('rect', { x, y, width: box.width, height: box.height, rx: node.kind === 'resource' ? 20 : 7 }),
      element('text', { class: 'what', x: x + 12, y: y + (detail ? 17 : 25) }, cut(node.name, 24)));
    if (detail) group.append(element('text', { x: x + 12, y: y + 32 }, cut(detail, 27)));
    group.addEventListener('pointerenter', () => light(node.id));
    group.addEventListener('pointerleave', () => light(null));
    group.addEventListener('click', () => choose(node));
    return group;
  }

  static tone(node) {
    if (node.kind === 'resource') return 'thing';
    return node.after.length > 0 ? 'wait' : 'busy';
  }

  // Scrolls the picture sideways until it shows a node.
  show(node) {
    const { parentElement: picture } = this.svg;
    const x = this.x(node);
    const end = x + Devtools.Graph.box.width + 4;
    picture.scrollLeft = Math.max(Math.min(picture.scrollLeft, x), end - picture.clientWidth);
  }

  // Shows a node with what it waits for and what waits for it; null for all alike.
  light(id) {
    const node = this.byID.get(id);
    const near = new Set(node ? [node, ...node.after, ...node.before].map((each) => String(each.id)) : []);
    this.svg.classList.toggle('dim', Boolean(node));
    for (const each of this.svg.querySelectorAll('.node')) each.classList.toggle('lit', near.has(each.dataset.node));
    for (const each of this.svg.querySelectorAll('.edge')) {
      each.classList.toggle('lit', Boolean(node) && (each.dataset.from === String(id) || each.dataset.to === String(id)));
    }
  }
};
