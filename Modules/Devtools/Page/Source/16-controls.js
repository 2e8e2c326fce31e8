'use strict';
// The buttons and keys of the page.
Object.assign(Devtools.Page.prototype, {
  listen() {
    const on = (id, event, action) => Devtools.byID(id).addEventListener(event, action);
    on('filter', 'input', (event) => {
      this.tree.filter = event.target.value;
      this.tree.update();
      this.timeline.filter = event.target.value;
      this.timeline.draw();
      this.writeAddress();
    });
    on('sort', 'change', (event) => {
      this.tree.sort = event.target.value;
      this.tree.update();
      this.writeAddress();
    });
    on('theme', 'click', () => this.nextTheme());
    on('help', 'click', () => this.showHelp());
    on('save', 'click', () => this.save());
    on('open', 'click', () => Devtools.byID('file').click());
    on('file', 'change', async (event) => {
      const [file] = event.target.files;
      if (!file) return;
      try {
        await this.openRecording(file);
      } catch (error) {
        Devtools.toast(error.message);
      }
      event.target.value = '';
    });
    on('play', 'click', () => this.play());
    on('live', 'click', () => this.reconnect());
    on('moment', 'input', (event) => this.goTo(Number(event.target.value) / 1000));
    for (const button of document.querySelectorAll('.views button')) {
      button.addEventListener('click', () => this.setView(button.dataset.view));
    }
    for (const part of ['timeline', 'waits']) {
      on(`tab-${part}`, 'click', () => this.showPart(part));
      on(`tab-${part}`, 'keydown', (event) => {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        const other = part === 'waits' ? 'timeline' : 'waits';
        this.showPart(other);
        Devtools.byID(`tab-${other}`).focus();
        event.preventDefault();
      });
    }
    document.addEventListener('keydown', (event) => this.key(event));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.setTheme(this.theme));
  },

  setView(view) {
    document.body.dataset.view = view;
    for (const button of document.querySelectorAll('.views button')) {
      button.setAttribute('aria-pressed', String(button.dataset.view === view));
    }
    this.isStale = true;
  },

  // Shows the runs in time, or what waits for what.
  showPart(part) {
    for (const name of ['timeline', 'waits']) {
      const tab = Devtools.byID(`tab-${name}`);
      tab.setAttribute('aria-selected', String(name === part));
      tab.tabIndex = name === part ? 0 : -1;
    }
    for (const id of ['lanes', 'legend', 'zoom']) Devtools.byID(id).hidden = part !== 'timeline';
    Devtools.byID('waits').hidden = part !== 'waits';
    if (window.matchMedia('(max-width: 760px)').matches) this.setView('timeline');
    this.waits.lastAsked = 0;
    this.waits.update();
    this.isStale = true;
  },

  setTheme(theme) {
    this.theme = theme;
    localStorage.setItem('theme', theme);
    const isDark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
    this.timeline.recolor();
  },

  nextTheme() {
    const themes = ['system', 'light', 'dark'];
    this.setTheme(themes[(themes.indexOf(this.theme) + 1) % themes.length]);
    Devtools.toast(`Theme: ${this.theme}`);
  },

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isTyping = event.target.matches?.('input, textarea, select');
    if (event.key === 'Escape' && isTyping) {
      event.target.blur();
      return;
    }
    if (isTyping || Devtools.byID('dialog').open) return;
    switch (event.key) {
      case '/': Devtools.byID('filter').focus(); break;
      case 'd': case 'D': this.nextTheme(); break;
      case 's': case 'S': this.save(); break;
      case 'o': case 'O': Devtools.byID('file').click(); break;
      case 't': case 'T': this.showPart('timeline'); break;
      case 'w': case 'W': this.showPart('waits'); break;
      case 'r': case 'R': this.details.performKey('refetch'); break;
      case 'i': case 'I': this.details.performKey('invalidate'); break;
      case 'c': case 'C': Devtools.byID('copy')?.click(); break;
      case 'Escape': this.timeline.setRange(null); break;
      case '?': this.showHelp(); break;
      case '+': case '=': case '-': case '0': case 'End': this.timeline.key(event); return;
      case '1': case '2': case '3': case '4': case '5': this.details.tabs[Number(event.key) - 1]
        && this.details.show(this.details.tabs[Number(event.key) - 1][0]); break;
      default: return;
    }
    event.preventDefault();
  },

  showHelp() {
    const { element } = Devtools;
    const keys = [
      ['/', 'filter the stores'], ['↑ ↓ ← →', 'walk through the tree, fold and unfold'], ['Enter', 'select a store'],
      ['1 … 5', 'explanation, value, events, limits, simulation'], ['R', 'refetch the selected store'],
      ['I', 'invalidate it'], ['C', 'copy its explanation'], ['T  W', 'the runs in time, what waits for what'], ['+ −', 'zoom the timeline'], ['0', 'all of the timeline'], ['End', 'follow what happens'],
      ['S  O', 'save and open a recording'], ['D', 'light or dark'],
    ];
    const dialog = Devtools.byID('dialog');
    Devtools.fill(dialog, element('h2', {}, 'Keys'),
      element('table', {}, element('tbody', {}, ...keys.map(([key, text]) => element('tr', {},
        element('td', {}, element('kbd', {}, key)), element('td', {}, text))))),
      element('p', {}, 'On the timeline: drag to move, hold Shift and drag to select a time and read its sums, turn the wheel or pinch to zoom, point at a run to read about it.'),
      element('p', { class: 'codes' }, element('button', { type: 'button', on: { click: () => dialog.close() } }, 'Close')));
    dialog.showModal();
  },
});

Devtools.page = new Devtools.Page();
