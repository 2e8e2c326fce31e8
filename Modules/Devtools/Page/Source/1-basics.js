'use strict';
// What all parts of the page share. Texts of the program become text nodes, never markup.
const Devtools = window.Devtools = {};

Devtools.element = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'on') {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (key === 'style') {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else {
      element.setAttribute(key, value === true ? '' : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

Devtools.byID = (id) => document.getElementById(id);

// Replaces the children of an element.
Devtools.fill = (element, ...children) => element.replaceChildren(...children.filter(Boolean));

// Compares texts with numbers in them as a person does: 9 is before 10.
Devtools.compare = new Intl.Collator('en', { numeric: true }).compare;

// The element of a path as a person writes it: a string without its quotation marks.
Devtools.label = (text) => {
  if (!text.startsWith('"')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
};

Devtools.pathText = (path) => path.length === 0 ? 'all stores' : path.map(Devtools.label).join(' / ');

Devtools.pathKey = (path) => JSON.stringify(path);

// A duration in seconds, in at most five characters or so.
Devtools.duration = (seconds) => {
  const size = Math.abs(seconds);
  if (size < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (size < 1) return `${(seconds * 1000).toFixed(size < 0.01 ? 1 : 0)} ms`;
  if (size < 60) return `${seconds.toFixed(size < 10 ? 1 : 0)} s`;
  if (size < 3600) return `${Math.floor(seconds / 60)} min`;
  if (size < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
};

Devtools.time = (seconds, digits = 3) => {
  const date = new Date(seconds * 1000);
  const two = (number) => String(number).padStart(2, '0');
  const fraction = digits === 0 ? '' : '.' + String(date.getMilliseconds()).padStart(3, '0').slice(0, digits);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}${fraction}`;
};

// The age of something in whole seconds, as it is shown where it would change all the time.
Devtools.age = (seconds) => seconds < 1 ? 'now' : seconds < 60 ? `${Math.floor(seconds)} s` : Devtools.duration(seconds);

Devtools.count = (number, noun) => `${Devtools.number(number)} ${noun}${number === 1 ? '' : 's'}`;

Devtools.number = (number) => number.toLocaleString('en');

// The causes of runs, by the names of OperationRunCause.Kind.
Devtools.causes = [
  ['call', 'call'], ['subscriber', 'subscriber'], ['invalidation', 'invalidation'], ['polling', 'polling'],
  ['condition', 'condition'], ['source', 'source'], ['refresh', 'refresh'], ['devtools', 'this page'], ['other', 'other'],
];

Devtools.causeGroup = (kind) => {
  // Recordings of earlier versions have hyphens.
  switch (kind?.replaceAll('-', '_')) {
    case undefined: return 'call';
    case 'early_refresh': case 'refresh_behind': case 'prefetch': return 'refresh';
    case 'call': case 'subscriber': case 'invalidation': case 'polling': case 'condition': case 'source': case 'devtools':
      return kind;
    default: return 'other';
  }
};

Devtools.colors = () => {
  const style = getComputedStyle(document.documentElement);
  const names = ['pane', 'raised', 'line', 'text', 'soft', 'accent', 'accent-ground', 'good', 'bad', 'wait', 'busy'];
  const colors = {};
  for (const name of names) colors[name] = style.getPropertyValue(`--${name}`).trim();
  for (const [group] of Devtools.causes) colors[group] = style.getPropertyValue(`--cause-${group}`).trim();
  return colors;
};

Devtools.toast = (text) => {
  const toast = Devtools.byID('toast');
  toast.textContent = text;
  toast.classList.add('shown');
  clearTimeout(Devtools.toast.timer);
  Devtools.toast.timer = setTimeout(() => toast.classList.remove('shown'), 4000);
};

// Whether the last result of a store is an error, or it tries again after one.
Devtools.isFailing = (row) => row.status === 'failure'
  || (row.status === 'loading' && (Boolean(row.attemptFailure) || row.attempt > 1 || Boolean(row.nextAttempt)));

// Whether an event tells of a failure.
Devtools.isFailure = (event) => event.outcome === 'failure' || event.kind === 'attempt.failed' || event.outcome === 'timedOut';

// Copies a text for other programs.
Devtools.copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    Devtools.toast('Copied');
  } catch {
    Devtools.toast('The browser does not permit copying');
  }
};

// What a row of a store tells in a word, with the tone that colours it.
Devtools.stateOf = (row, now) => {
  if (row.paused) return ['paused', 'wait'];
  if (row.status === 'loading') {
    if (row.nextAttempt > now) return [`retry in ${Devtools.duration(row.nextAttempt - now)}`, 'wait'];
    return [row.attempt > 1 ? `attempt ${row.attempt}` : 'running', 'busy'];
  }
  if (row.status === 'failure') return ['failed', 'bad'];
  if (row.status === 'restoring') return ['restoring', 'busy'];
  if (row.status === 'idle') return ['never run', 'idle'];
  if (!row.canBeStale) return ['done', 'good'];
  return Devtools.isStale(row, now) ? ['stale', 'stale'] : ['fresh', 'good'];
};

Devtools.isStale = (row, now) => Boolean(row.canBeStale && (row.stale || (row.freshUntil && row.freshUntil <= now)));
