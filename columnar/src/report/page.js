'use strict';
// Shows all steps in place of the last ones: rows are drawn as they come into view, and a cell has its whole request.
{
  const ROW = 32;
  const AROUND = 20;
  const LISTED = 200;
  const UNFOLDED = 2000;
  const EXCERPT = 120;
  const CHECKPOINT = 256;

  const find = id => document.getElementById(id);
  const read = id => JSON.parse(find(id).textContent);
  const { columns, steps, block, firstRequest, facts } = read('index');

  // The only way to make an element, so no text becomes markup.
  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children.flat().filter(child => child !== undefined));
    return made;
  };
  const paragraph = text => text && element('p', {}, text);
  const grouped = number => Math.round(number).toLocaleString('en-US');
  const dollars = amount => '$' + amount.toFixed(6);
  const idOf = (column, step) => `c${step}-${column}`;
  const nameOf = (column, step) => `${columns[column]} ${step}`;
  const colourOf = part => part.of ? `o${part.of[0] % 8}` : '';

  // Blocks are parsed when they are needed.
  const blocks = new Map();
  const cell = (column, step) => {
    const at = Math.floor(step / block);
    const id = `b${column}-${at}`;
    if (!blocks.has(id)) blocks.set(id, read(id));
    return blocks.get(id)[step - at * block];
  };
  let texts;
  const text = number => (texts ??= read('texts'))[number];

  const valueOf = part => part.text === undefined ? cell(...part.of).text : text(part.text);
  const textOf = part => {
    const [opening, closing] = part.around ? part.around.map(text) : ['', ''];
    return opening + valueOf(part) + closing;
  };

  // The parts of requests, by replaying edits from the first request of the column, or from one that was kept.
  const replays = columns.map(() => []);
  const replay = (column, step) => {
    const kept = replays[column].findLast(kept => kept.step <= step);
    let { step: at, parts } = kept ?? { step: firstRequest - 1, parts: [] };
    let before;
    while (at < step) {
      const { request } = cell(column, ++at);
      if (request) {
        before = parts;
        parts = request.pieces.flatMap(piece =>
          Array.isArray(piece) ? before.slice(piece[0], piece[0] + piece[1]) : [piece]);
      }
      if (at % CHECKPOINT === 0 && at < step && !replays[column].some(kept => kept.step === at)) {
        replays[column].push({ step: at, parts });
        replays[column].sort((one, other) => one.step - other.step);
      }
    }
    return { parts, before };
  };
  const gone = (before, pieces) => {
    const kept = new Set();
    for (const piece of pieces) {
      if (!Array.isArray(piece)) continue;
      for (let at = piece[0]; at < piece[0] + piece[1]; at++) kept.add(at);
    }
    return before.filter((_, at) => !kept.has(at));
  };

  // Tokens as they were billed: the counted ones, scaled to the provider's. A cache serves the beginning of a request.
  const sharesOf = (request, parts, billed) => {
    const counted = parts.reduce((sum, part) => sum + part.tokens, request.system_tokens);
    const scale = billed?.input ? billed.input / Math.max(counted, 1) : 1;
    const overlap = (from, to, begin, end) => Math.max(0, Math.min(to, end) - Math.max(from, begin));
    let at = request.system_tokens;
    return parts.map(part => {
      const from = at * scale;
      at += part.tokens;
      const [read, written] = [billed?.read ?? 0, (billed?.read ?? 0) + (billed?.written ?? 0)];
      const served = overlap(from, at * scale, 0, read);
      const amounts = [served, overlap(from, at * scale, read, written), overlap(from, at * scale, written, Infinity)];
      const price = billed?.input && billed.rates &&
        amounts.reduce((sum, amount, kind) => sum + amount * billed.rates[kind] / 1e6, 0);
      return { tokens: part.tokens, served: part.tokens > 0 && served * 2 > (at * scale - from), price };
    });
  };
  const sum = shares => shares.reduce((sum, share) => ({
    tokens: sum.tokens + share.tokens,
    served: sum.served && share.served,
    price: sum.price === undefined || share.price === undefined ? undefined : sum.price + share.price,
  }));
  const worth = share => `${grouped(share.tokens)} tokens` +
    (share.price === undefined ? '' : `, about ${dollars(share.price)}`) + (share.served ? ', read from the cache' : '');

  // A text in an element that gets it when it is opened.
  const folded = (head, length, fill) => {
    const details = element('details', {}, element('summary', {}, head));
    details.addEventListener('toggle', () => details.childElementCount === 1 && details.append(...fill()), { once: true });
    details.open = length <= UNFOLDED;
    return details;
  };
  const pre = text => element('pre', { dir: 'auto' }, text);
  const link = (column, step) => element('a', { href: '#' + idOf(column, step) }, nameOf(column, step));

  const partItem = (part, number, share, word) => {
    const about = `, ${part.role}, ${worth(share)}` + (part.tier ? `, tier ${part.tier}` : '') +
      (part.separator === undefined ? '' : ', after an empty line') + (word ? ', ' : '');
    const name = part.of ? nameOf(...part.of) : part.kind;
    const marks = { new: 'ins', gone: 'del' };
    const head = [element('b', {}, name), about, word && element(marks[word], {}, word)];
    const body = () => [
      pre(textOf(part)),
      ...(part.files ?? []).map(paragraph),
      part.of && element('p', {}, 'Value of ', link(...part.of)),
    ].filter(Boolean);
    return element('li', { value: number, class: `${word ?? 'kept'} ${colourOf(part)}` },
      folded(head, word === 'new' ? textOf(part).length : Infinity, body));
  };

  // What changed from the request before: runs of parts that it repeats, new parts, and parts that are gone.
  const changes = (request, parts, before, shares) => {
    const items = [];
    let at = 0;
    for (const piece of request.pieces) {
      const count = Array.isArray(piece) ? piece[1] : 1;
      if (Array.isArray(piece)) {
        const head = (count === 1 ? `Part ${at + 1}` : `Parts ${at + 1} to ${at + count}`) + ', as before, ';
        items.push(element('li', { value: at + 1, class: 'kept' }, head + worth(sum(shares.slice(at, at + count)))));
      } else {
        items.push(partItem(piece, at + 1, shares[at], 'new'));
      }
      at += count;
    }
    for (const part of gone(before ?? [], request.pieces).slice(0, LISTED)) {
      items.push(partItem(part, 0, { tokens: part.tokens }, 'gone'));
    }
    return items;
  };

  // A long request is listed in pages.
  const listed = items => {
    const list = element('ol', { class: 'parts' });
    const more = element('button', { type: 'button' });
    const show = () => {
      const next = items.slice(list.childElementCount, list.childElementCount + LISTED);
      list.append(...next.map(item => item()));
      more.textContent = `Show ${grouped(Math.min(LISTED, items.length - list.childElementCount))} more`;
      more.hidden = list.childElementCount === items.length;
    };
    more.addEventListener('click', show);
    show();
    return [list, more];
  };

  // The parts side by side, each as wide as its tokens, and below them what the cache served and may serve.
  const bar = (spans, name) => element('div', { class: `bar ${name}` }, spans.filter(([tokens]) => tokens > 0).map(
    ([tokens, kind]) => {
      const span = element('span', { class: kind });
      span.style.flexGrow = tokens;
      return span;
    }));
  const bars = (request, parts, shares) => {
    const spans = [[request.system_tokens, 'system']];
    for (const part of parts) {
      const last = spans.at(-1);
      if (last[1] === colourOf(part)) last[0] += part.tokens;
      else spans.push([part.tokens, colourOf(part)]);
    }
    const all = shares.reduce((sum, share) => sum + share.tokens, request.system_tokens);
    const served = shares.reduce((sum, share) => sum + (share.served ? share.tokens : 0), 0);
    const begin = served > 0 ? request.system_tokens + served : 0;
    const stable = request.system_tokens + request.stable;
    return element('div', { 'aria-hidden': 'true' }, bar(spans, 'origins'),
      bar([[begin, 'served'], [all - begin, '']], 'cache'), bar([[stable, 'stable'], [all - stable, '']], 'cache'));
  };
  const legend = parts => {
    const found = [...new Set(parts.filter(part => part.of).map(part => part.of[0]))].sort((one, other) => one - other);
    return element('p', { class: 'legend' }, found.map(column => element('span', { class: `o${column % 8}` }, columns[column])),
      element('span', { class: 'served' }, 'read from the cache'), element('span', { class: 'stable' }, 'repeated by the next request'));
  };

  let isWhole = false;
  const requestOf = (column, step, { request, billed }, again) => {
    const { parts, before } = replay(column, step);
    const shares = sharesOf(request, parts, billed);
    const total = shares.reduce((sum, share) => sum + share.tokens, 0);
    const whole = element('input', { type: 'checkbox', id: 'whole' });
    whole.checked = isWhole;
    whole.addEventListener('change', () => {
      isWhole = whole.checked;
      again();
      find('whole').focus();
    });
    const items = isWhole
      ? listed(parts.map((part, at) => () => partItem(part, at + 1, shares[at])))
      : [element('ol', { class: 'parts' }, changes(request, parts, before, shares))];
    const system = text(request.system);
    return [
      element('h4', {}, 'Request'),
      element('p', {}, `${grouped(parts.length)} parts, about ${grouped(total)} tokens of messages, and ` +
        `${grouped(request.system_tokens)} of the system text.`),
      bars(request, parts, shares), legend(parts),
      element('p', {}, element('label', {}, whole, ' All parts, and not what changed alone')),
      system && folded('System text', Infinity, () => [pre(system)]),
      ...items,
      paragraph(request.cut), paragraph(`Cache: ${request.cache}.`),
    ];
  };

  const factsOf = shown => [
    element('h4', {}, 'Receipt'),
    element('dl', {}, shown.flatMap((fact, at) => fact === null ? [] :
      [element('div', {}, element('dt', {}, facts[at]), element('dd', {}, element('bdi', {}, fact)))])),
  ];
  const filesOf = files => files.flatMap(({ about, picture, alt }) =>
    [paragraph(about), picture && element('img', { src: picture, alt })]);

  const grid = element('div', { id: 'grid', role: 'grid', tabindex: '0', 'aria-label': 'Values by step and column',
    'aria-rowcount': steps + 1, 'aria-colcount': columns.length + 1 });
  const head = element('div', { role: 'row', class: 'row head', 'aria-rowindex': '1' },
    ['Step', ...columns].map((name, at) => element('div', { role: 'columnheader', class: at ? `o${(at - 1) % 8}` : '' }, name)));
  const rows = element('div', { role: 'rowgroup', class: 'rows' });
  const heading = element('h3', { id: 'inspected', tabindex: '-1' });
  const slider = element('input', { type: 'range', id: 'step', min: 0, max: Math.max(steps - 1, 0) });
  const content = element('div', {});
  const inspector = element('section', { id: 'inspector', 'aria-labelledby': 'inspected', hidden: '' }, heading,
    element('p', { class: 'slider' }, element('label', { for: 'step' }, 'Step'), slider), content);
  const search = element('input', { type: 'search', id: 'search' });
  const found = element('span', { role: 'status' });
  const active = { step: steps - 1, column: 0 };

  const inspect = (column, step) => {
    const shown = cell(column, step);
    const again = () => inspect(column, step);
    heading.textContent = nameOf(column, step);
    slider.value = step;
    slider.setAttribute('aria-valuetext', `step ${step}`);
    content.replaceChildren(...[
      shown.text === undefined ? paragraph(shown.without) : [element('h4', {}, 'Value'), pre(shown.text)],
      shown.files && filesOf(shown.files),
      shown.thoughts && folded('Thoughts', Infinity, () => [pre(shown.thoughts)]),
      shown.facts && factsOf(shown.facts),
      shown.request && requestOf(column, step, shown, again),
      paragraph(shown.error), paragraph(shown.audit),
    ].flat().filter(Boolean));
    inspector.hidden = false;
    Object.assign(active, { step, column });
    draw();
    history.replaceState(null, '', '#' + idOf(column, step));
  };
  const open = (column, step) => {
    inspect(column, step);
    reveal();
    heading.focus();
  };

  const hidden = /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
  const excerpt = text => {
    const begin = [...text.trim().slice(0, 2 * EXCERPT)].slice(0, EXCERPT).join('').replace(/\s/g, ' ');
    return begin.replace(hidden, mark => `\\u{${mark.codePointAt(0).toString(16)}}`) || '(empty)';
  };
  const shortly = ({ text, without }) =>
    text === undefined ? element('i', {}, without.split(/[.:]/)[0].toLowerCase()) : element('bdi', {}, excerpt(text));
  const row = step => {
    const cells = columns.map((_, column) => element('div', {
      role: 'gridcell', id: 'g' + idOf(column, step),
      class: step === active.step && column === active.column ? 'active' : '',
      'aria-selected': String(step === active.step && column === active.column),
    }, shortly(cell(column, step))));
    const made = element('div', { role: 'row', class: 'row', 'aria-rowindex': step + 2 },
      element('div', { role: 'rowheader' }, String(step)), cells);
    made.style.top = `${step * ROW}px`;
    return made;
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - AROUND);
    const last = Math.min(steps, Math.ceil((grid.scrollTop + grid.clientHeight) / ROW) + AROUND);
    rows.replaceChildren(...Array.from({ length: Math.max(0, last - first) }, (_, at) => row(first + at)));
    grid.setAttribute('aria-activedescendant', 'g' + idOf(active.column, active.step));
  };
  // Brings the active cell into view.
  const reveal = () => {
    const room = grid.clientHeight - 2 * ROW;
    if (active.step * ROW < grid.scrollTop) grid.scrollTop = active.step * ROW;
    if (active.step * ROW > grid.scrollTop + room) grid.scrollTop = active.step * ROW - room;
    draw();
    find('g' + idOf(active.column, active.step))?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  const move = (step, column) => {
    active.step = Math.min(Math.max(step, 0), steps - 1);
    active.column = Math.min(Math.max(column, 0), columns.length - 1);
    reveal();
  };

  const keys = {
    ArrowUp: ({ step, column }) => move(step - 1, column),
    ArrowDown: ({ step, column }) => move(step + 1, column),
    ArrowLeft: ({ step, column }) => move(step, column - 1),
    ArrowRight: ({ step, column }) => move(step, column + 1),
    PageUp: ({ step, column }) => move(step - 10, column),
    PageDown: ({ step, column }) => move(step + 10, column),
    Home: ({ step }, event) => move(event.ctrlKey ? 0 : step, 0),
    End: ({ step }, event) => move(event.ctrlKey ? steps - 1 : step, columns.length - 1),
    Enter: ({ step, column }) => open(column, step),
  };
  grid.addEventListener('keydown', event => {
    if (!keys[event.key] || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key](active, event);
  });
  grid.addEventListener('click', event => {
    const [, step, column] = /^gc(\d+)-(\d+)$/.exec(event.target.closest('[role=gridcell]')?.id) ?? [];
    if (step !== undefined) open(Number(column), Number(step));
  });
  let isDrawing = false;
  grid.addEventListener('scroll', () => {
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      draw();
    });
  });
  inspector.addEventListener('keydown', event => event.key === 'Escape' && grid.focus());
  slider.addEventListener('input', () => inspect(active.column, Number(slider.value)));

  // The next cell with this text, step by step.
  search.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || !search.value) return;
    const wanted = search.value.toLowerCase();
    const count = steps * columns.length;
    const begin = active.step * columns.length + active.column;
    for (let at = 1; at <= count; at++) {
      const place = (begin + at) % count;
      const [step, column] = [Math.floor(place / columns.length), place % columns.length];
      if (!cell(column, step).text?.toLowerCase().includes(wanted)) continue;
      found.textContent = `found in ${nameOf(column, step)}`;
      inspect(column, step);
      return reveal();
    }
    found.textContent = 'no value has this text';
  });

  const follow = () => {
    const [, step, column] = /^#c(\d+)-(\d+)$/.exec(location.hash) ?? [];
    if (Number(step) < steps && Number(column) < columns.length) open(Number(column), Number(step));
  };

  if (steps > 0) {
    grid.style.setProperty('--columns', columns.length);
    rows.style.height = `${steps * ROW}px`;
    grid.append(element('div', { role: 'rowgroup', class: 'sticky' }, head), rows);
    find('static').replaceWith(
      element('p', {}, element('label', { for: 'search' }, 'Find a text '), search, ' ', found), grid, inspector);
    grid.scrollTop = steps * ROW;
    draw();
    addEventListener('hashchange', follow);
    addEventListener('resize', draw);
    follow();
  }
}
