'use strict';
// Follows the events of a flow: one row for each step, one cell for each column.
{
  const ROWS = 200;
  const EXCERPT = 160;
  const FAILURES = 50;

  const find = id => document.getElementById(id);
  const { columns, sources, first, dollars, isWhole, takesAnswers } = JSON.parse(find('start').textContent);
  // The only way to make an element, so no text becomes markup.
  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const grouped = number => Math.round(number).toLocaleString('en-US');
  // Marks of direction and control characters are escapes; line breaks, tabs and the joiners of emoji are not.
  const invisible = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu;
  const visible = text => text.replace(/\r\n/g, '\n').replace(invisible, c => `\\u{${c.codePointAt(0).toString(16)}}`);
  const line = text => element('bdi', {}, visible(text.replace(/\s+/g, ' ').trim()));

  // By step: the row, and the state and text of each cell.
  const rows = new Map();
  const totals = { done: 0, skipped: 0, dollars, rows: 0, begun: first };
  const failures = new Map();
  const times = [];

  const row = step => {
    if (rows.has(step)) return rows.get(step);
    const cells = columns.map(column => ({ column, step, state: 'waiting', text: '', shown: element('td', {}) }));
    const made = { step, cells, shown: element('tr', {}, element('th', { scope: 'row' }, String(step)), ...cells.map(cell => cell.shown)) };
    const after = [...find('rows').children].find(other => Number(other.firstChild.textContent) > step);
    find('rows').insertBefore(made.shown, after ?? null);
    rows.set(step, made);
    while (find('rows').children.length > ROWS) {
      const oldest = find('rows').firstChild;
      rows.delete(Number(oldest.firstChild.textContent));
      oldest.remove();
    }
    for (const cell of cells) show(cell);
    return made;
  };

  // A person answers here. The value comes as an event, as any other.
  const form = ({ column, step, text }) => {
    const answer = element('textarea', { 'aria-label': `Answer of ${column} at step ${step}`, rows: 3, required: '' });
    answer.value = text;
    const send = element('button', {}, 'Answer');
    const refusal = element('span', { role: 'alert' });
    const made = element('form', {}, answer, send, refusal);
    made.onsubmit = async submitted => {
      submitted.preventDefault();
      send.disabled = true;
      const sent = fetch(`answers/${encodeURIComponent(column)}/${step}`, { method: 'POST', body: answer.value });
      const error = await sent.then(async reply => reply.ok ? '' : (await reply.json()).error, () => 'The server cannot be reached.');
      refusal.replaceChildren(line(error));
      send.disabled = false;
    };
    return made;
  };

  const show = cell => {
    const { state, text, facts, shown } = cell;
    shown.className = state;
    shown.title = '';
    if (state === 'done' && text.length > EXCERPT) {
      const whole = element('pre', { dir: 'auto', tabindex: 0 }, visible(text));
      shown.replaceChildren(element('details', {}, element('summary', {}, line(text.slice(0, EXCERPT)), ' …'), whole));
    } else if (state === 'done') {
      shown.replaceChildren(line(text));
    } else if (state === 'pending' && takesAnswers) {
      shown.replaceChildren(element('span', {}, state), form(cell));
    } else if (state === 'running') {
      shown.replaceChildren(text.length > EXCERPT ? '… ' : '', line(text.slice(-EXCERPT)));
    } else {
      shown.replaceChildren(element('span', {}, state), text ? element('br', {}) : '', text ? line(text) : '');
    }
    if (facts) shown.title = facts.map(([name, value]) => `${name}: ${value}`).join('\n');
  };

  const fact = (name, value) => element('div', {}, element('dt', {}, name), element('dd', {}, value));
  const summary = () => {
    const cells = totals.begun * columns.length;
    const known = totals.done + totals.skipped + first * columns.length;
    find('progress').max = Math.max(cells, 1);
    find('progress').value = known;
    const now = performance.now();
    while (times.length && now - times[0] > 10_000) times.shift();
    const rate = times.length / Math.max(1, Math.min(10, now / 1000));
    find('facts').replaceChildren(
      fact('Rows', `${grouped(first + totals.rows)} of ${grouped(totals.begun)}`),
      fact('Cells', `${grouped(known)} of ${grouped(cells)}`),
      fact('Skipped', grouped(totals.skipped)),
      fact('Failed', grouped(failures.size)),
      fact('Cells a second', rate.toFixed(1)),
      fact(isWhole ? 'Cost' : `Cost since step ${first}`, `$${totals.dollars.toFixed(6)}`),
    );
    find('failures').parentElement.hidden = failures.size === 0;
    find('failed').replaceChildren(...[...failures].slice(-FAILURES).map(([cell, error]) =>
      element('li', {}, element('strong', {}, cell), ' ', line(error))));
  };

  // A reader that is behind gets many events at once, and they are drawn once.
  let drawing;
  const changed = new Set();
  const draw = () => {
    drawing = undefined;
    for (const cell of changed) show(cell);
    changed.clear();
    summary();
  };

  const finished = new Map();
  const take = event => {
    const { type, column, step } = event;
    const at = columns.indexOf(column);
    if (at < 0) return;
    totals.begun = Math.max(totals.begun, step + 1);
    // A row that was taken out of the page gets no cell again, but counts.
    const oldest = Number(find('rows').firstChild?.firstChild.textContent ?? step);
    const cell = rows.size >= ROWS && step < oldest ? {} : row(step).cells[at];
    const isDone = type === 'value' || type === 'skipped';
    if (type === 'delta') {
      cell.text = (cell.state === 'running' ? cell.text : '') + event.text;
      cell.state = 'running';
    } else if (type === 'retry' || type === 'waiting') {
      Object.assign(cell, { state: 'trying again', text: event.error });
    } else if (type === 'pending') {
      Object.assign(cell, { state: 'pending', text: event.proposal ?? '' });
    } else if (type === 'failed') {
      Object.assign(cell, { state: 'failed', text: event.error });
      failures.set(`${column} ${step}`, event.error);
    } else if (isDone) {
      const text = type === 'value' ? event.value : event.reason ?? '';
      Object.assign(cell, { state: type === 'value' ? 'done' : 'skipped', text, facts: event.facts });
    }
    if (isDone) {
      totals[type === 'value' ? 'done' : 'skipped']++;
      totals.dollars += event.dollars ?? 0;
      failures.delete(`${column} ${step}`);
      if (!sources[at]) times.push(performance.now());
      finished.set(step, (finished.get(step) ?? 0) + 1);
      if (finished.get(step) === columns.length) {
        totals.rows++;
        finished.delete(step);
      }
    }
    if (cell.shown) changed.add(cell);
    drawing ??= requestAnimationFrame(draw);
  };

  // The browser connects again by itself, and sends the last position.
  const events = new EventSource(`events?from=${first}`);
  events.onopen = () => find('connection').textContent = 'Connected: the page shows what is stored, as it is stored.';
  events.onerror = () => find('connection').textContent =
    events.readyState === EventSource.CLOSED ? 'The server has ended the connection. Load the page again.' : 'The connection is lost. Connecting again …';
  events.onmessage = message => take(JSON.parse(message.data));
  setInterval(summary, 1000);
  summary();
}
