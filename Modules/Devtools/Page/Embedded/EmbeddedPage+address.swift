// Made by Scripts/devtools-page.
// swift-format-ignore-file
#if SwiftOperationDevtools
extension EmbeddedPage {
  static let address = ##"""
'use strict';
// What the address of the page holds, so that a link or a reload shows the same: the selection, the tab and the filter. And the
// sizes of the panes, which a person sets by splitters.
Object.assign(Devtools.Page.prototype, {
  writeAddress() {
    const parts = new URLSearchParams();
    const path = this.wanted ?? this.details.node?.path;
    if (path) parts.set('path', JSON.stringify(path));
    if (this.details.tab !== 'explanation') parts.set('tab', this.details.tab);
    if (this.tree.filter !== '') parts.set('filter', this.tree.filter);
    if (this.tree.shown !== 'all') parts.set('show', this.tree.shown);
    if (this.tree.sort !== 'path') parts.set('sort', this.tree.sort);
    const text = parts.toString();
    if (text === location.hash.slice(1)) return;
    const address = new URL(location.href);
    address.hash = text;
    history.replaceState(null, '', address);
  },

  readAddress() {
    const parts = new URLSearchParams(location.hash.slice(1));
    try {
      const path = JSON.parse(parts.get('path') ?? 'null');
      if (Array.isArray(path) && path.every((part) => typeof part === 'string')) this.wanted = path;
    } catch {
      // It was typed by hand, and names nothing. The page shows no selection.
    }
    const tab = parts.get('tab');
    if (['explanation', 'value', 'events', 'limits', 'simulation'].includes(tab)) this.details.tab = tab;
    const filter = parts.get('filter') ?? '';
    Devtools.byID('filter').value = filter;
    this.tree.filter = this.timeline.filter = filter;
    if (Devtools.Tree.filters.some(([name]) => name === parts.get('show'))) this.tree.setShown(parts.get('show'));
    const sort = parts.get('sort');
    if (sort && [...Devtools.byID('sort').options].some((option) => option.value === sort)) {
      Devtools.byID('sort').value = sort;
      this.tree.sort = sort;
    }
    this.details.makeTabs();
    if (this.model.isReady) this.findSelection();
    this.isStale = true;
  },

  // ---- Splitters

  makeSplitters() {
    const main = document.querySelector('main');
    this.makeSplitter(Devtools.byID('split-columns'), 'columns', 54, (event) => {
      const box = main.getBoundingClientRect();
      return ((event.clientX - box.left) / box.width) * 100;
    });
    this.makeSplitter(Devtools.byID('split-rows'), 'rows', 36, (event) => {
      const box = main.getBoundingClientRect();
      return ((box.bottom - event.clientY) / box.height) * 100;
    });
  },

  // The size is a share of the room in percent.
  makeSplitter(handle, name, usual, share) {
    const set = (size) => {
      const percent = Math.min(Math.max(Math.round(size), 15), 85);
      document.documentElement.style.setProperty(`--split-${name}`, `${percent}%`);
      handle.setAttribute('aria-valuenow', String(percent));
      localStorage.setItem(`split-${name}`, String(percent));
    };
    set(Number(localStorage.getItem(`split-${name}`)) || usual);
    handle.addEventListener('pointerdown', (event) => {
      handle.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    handle.addEventListener('pointermove', (event) => {
      if (handle.hasPointerCapture(event.pointerId)) set(share(event));
    });
    handle.addEventListener('dblclick', () => set(usual));
    handle.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -2, ArrowDown: -2, ArrowRight: 2, ArrowUp: 2 }[event.key];
      if (!step) return;
      set(Number(handle.getAttribute('aria-valuenow')) + step);
      event.preventDefault();
      event.stopPropagation();
    });
  },
});

"""##
}
#endif
