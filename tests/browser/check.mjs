// Opens the pages of a folder in a browser, and prints what is wrong with them. Each page may have a file of requests
// beside it: by cell, the texts that the inspector must show. Screenshots are written beside the pages.
//
//   node check.mjs [FOLDER]         without a folder: only starts the browser
//   node check.mjs FOLDER URL       a page that follows a flow; its screenshots are written to the folder
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';

const [folder, url] = process.argv.slice(2);
const launch = async () =>
  playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox'] });
const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
const findings = [];
const own = new Set(url ? [new URL(url).origin] : []);
const check = (what, isRight) => isRight || findings.push(what);

// What the page asked for, what it wrote to the console, and whether a text of it ran as a script.
const watched = async (context, name) => {
  const page = await context.newPage();
  const isOwn = address => /^(file|data):/.test(address) || own.has(new URL(address).origin);
  page.on('request', request => check(`${name} asks for ${request.url().slice(0, 80)}`, isOwn(request.url())));
  page.on('console', message => findings.push(`${name} writes ${message.text()}`));
  page.on('pageerror', error => findings.push(`${name} fails: ${error}`));
  page.on('dialog', async dialog => {
    findings.push(`${name} opens a dialog`);
    await dialog.dismiss();
  });
  return page;
};

const accessible = async (page, name) => {
  await page.evaluate(axe);
  const { violations, incomplete } = await page.evaluate(() => axe.run());
  for (const { id, nodes } of violations) {
    findings.push(`${name}: ${id} in ${nodes.length} places, such as ${nodes[0].html.slice(0, 120)}`);
  }
  const undecided = incomplete.flatMap(({ nodes }) => nodes).length;
  const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  check(`${name} scrolls sideways`, !isWider);
  console.log(`${name}: ${violations.length} findings of axe, ${undecided} places that it leaves open`);
};

const withoutScripts = file => {
  const copy = file.replace('.html', '.without-scripts.htm');
  const html = readFileSync(join(folder, file), 'utf8');
  writeFileSync(join(folder, copy), html.replace(/<script[^]*?<\/script>/g, ''));
  return copy;
};

const shots = async (browser, file) => {
  for (const width of file.startsWith('hostile') ? [400] : [1280, 400]) {
    for (const colorScheme of file.startsWith('hostile') ? ['dark'] : ['light', 'dark']) {
      // axe is a script itself, so a page without scripts is a copy.
      for (const shown of [file, withoutScripts(file)]) {
        const name = `${shown} ${width} ${colorScheme}`;
        const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
        const page = await watched(context, name);
        await page.goto(`file://${join(folder, shown)}`);
        if (await page.locator('#grid').count()) {
          await page.locator('#grid').focus();
          await page.keyboard.press('Control+End');
          await page.keyboard.press('Enter');
        }
        await accessible(page, name);
        await page.screenshot({ path: join(folder, `${shown}-${width}-${colorScheme}.png`), fullPage: true });
        await context.close();
      }
    }
  }
};

const focused = page => page.evaluate(() => document.activeElement.id);
const active = page => page.evaluate(() => {
  const id = document.activeElement.getAttribute('aria-activedescendant');
  return document.getElementById(id)?.closest('.row') && id;
});

// From the beginning of the page to the first and the last cell and into them, with the keyboard alone.
const keyboard = async (browser, file) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await watched(context, file);
  const begin = performance.now();
  await page.goto(`file://${join(folder, file)}`, { waitUntil: 'domcontentloaded' });
  const loaded = performance.now() - begin;
  const { columns, steps } = await page.evaluate(() => JSON.parse(document.getElementById('index').textContent));
  if (steps === 0) return context.close();
  for (let tabs = 0; (await focused(page)) !== 'grid' && tabs < 50; tabs++) await page.keyboard.press('Tab');
  check(`${file}: the keyboard does not reach the cells`, (await focused(page)) === 'grid');
  const seen = new Set();
  const presses = async (key, cell) => {
    await page.keyboard.press(key);
    seen.add(await active(page));
    check(`${file}: ${key} leads to ${await active(page)}, not to ${cell}`, (await active(page)) === cell);
  };
  await presses('Control+Home', 'gc0-0');
  for (let column = 1; column < columns.length; column++) await presses('ArrowRight', `gc0-${column}`);
  for (let step = 1; step < Math.min(steps, 40); step++) await presses('ArrowDown', `gc${step}-${columns.length - 1}`);
  await presses('Control+End', `gc${steps - 1}-${columns.length - 1}`);
  await page.keyboard.press('Enter');
  check(`${file}: a cell does not open`, (await focused(page)) === 'inspected');
  await page.keyboard.press('Escape');
  check(`${file}: Escape does not lead back`, (await focused(page)) === 'grid');
  console.log(`${file}: ${columns.length * steps} cells, parsed in ${loaded.toFixed(0)} ms, ${seen.size} cells by keyboard`);
  await context.close();
};

// The requests that the inspector rebuilds, text for text.
const requests = async (browser, file) => {
  const expected = JSON.parse(readFileSync(join(folder, file.replace('.html', '.json')), 'utf8'));
  const context = await browser.newContext();
  const page = await watched(context, file);
  await page.goto(`file://${join(folder, file)}`);
  let count = 0;
  for (const [cell, texts] of Object.entries(expected)) {
    await page.evaluate(hash => { location.hash = hash; }, cell);
    await page.waitForFunction(cell => document.activeElement.id === 'inspected' && location.hash === `#${cell}`, cell);
    if (!(await page.locator('#whole').isChecked())) await page.locator('#whole').check();
    const shown = await page.evaluate(async () => {
      const items = [...document.querySelectorAll('.parts > li > details')];
      for (const item of items) item.open = true;
      await new Promise(requestAnimationFrame);
      await new Promise(resolve => setTimeout(resolve, 20));
      return items.map(item => item.querySelector('pre').textContent);
    });
    check(`${file}: the request of ${cell} is not the one that was sent`, JSON.stringify(shown) === JSON.stringify(texts));
    count += 1;
  }
  console.log(`${file}: ${count} requests are the ones that were sent`);
  await context.close();
};

const valid = file => {
  try {
    execFileSync('java', ['-jar', 'node_modules/vnu-jar/build/dist/vnu.jar', '--errors-only', join(folder, file)], { stdio: 'pipe' });
  } catch (error) {
    // A text is shown as it is, and HTML has no other way to write these characters.
    const errors = error.stderr.toString().split('\n').filter(line =>
      line && !/Forbidden code point|expanded to carriage return/.test(line));
    check(`${file} is no valid HTML: ${errors.join('\n').slice(0, 500)}`, errors.length === 0);
  }
};

// A server of the same page, with a stream that breaks off after these events. A browser says where it continues.
const scripted = async events => {
  const html = await (await fetch(url)).text();
  const positions = [];
  const server = createServer((request, response) => {
    if (!request.url.startsWith('/events')) return response.setHeader('content-type', 'text/html').end(html);
    positions.push(request.headers['last-event-id']);
    if (positions.length > 1) return response.writeHead(204).end();
    const body = events.map((event, at) => `retry: 10\nid: ${at + 1}\ndata: ${JSON.stringify(event)}\n\n`).join('');
    return response.setHeader('content-type', 'text/event-stream').end(body);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${server.address().port}`;
  own.add(address);
  return { server, positions, address };
};

const live = async browser => {
  const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script> \u202esdrawkcab \u001b[2J javascript:alert(3)';
  const context = await browser.newContext();
  const page = await watched(context, 'live');
  await page.goto(url);
  await page.waitForFunction(() => document.querySelectorAll('#rows td.done').length > 0);
  const { columns, sources } = JSON.parse(await page.locator('#start').textContent());
  const derived = columns.findIndex((_, at) => !sources[at]);
  const cells = await page.locator('#rows td.done').count();
  console.log(`live: ${cells} cells of the store, ${await page.locator('#connection').textContent()}`);
  writeFileSync(join(folder, 'live.html'), await (await context.request.get(url)).text());
  valid('live.html');
  await context.close();
  const at = { column: columns[derived], step: 9001 };
  const events = [
    { type: 'value', column: columns[0], step: 9001, value: hostile },
    { type: 'delta', ...at, text: 'first attempt' },
    { type: 'retry', ...at, attempt: 1, error: hostile },
    { type: 'delta', ...at, text: 'second ' },
    { type: 'delta', ...at, text: hostile },
    { type: 'failed', ...at, step: 9002, error: `the provider is down ${hostile}` },
    { type: 'skipped', ...at, step: 9003, reason: 'the budget is too small' },
    { type: 'value', ...at, step: 9004, value: `${hostile} `.repeat(40), dollars: 0.25, facts: [['Model', hostile]] },
  ];
  for (const width of [1280, 400]) {
    for (const colorScheme of ['light', 'dark']) {
      const name = `live ${width} ${colorScheme}`;
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await watched(context, name);
      const { server, positions, address } = await scripted(events);
      await page.goto(address);
      await page.waitForFunction(() => document.querySelector('#connection').textContent.includes('has ended'));
      const shown = await page.evaluate(() => [...document.querySelectorAll('#rows tr')].map(row => row.innerText).join('\n'));
      const failed = await page.locator('#failed').innerText();
      check(`${name} shows a text of the attempt that failed`, !shown.includes('first attempt'));
      check(`${name} shows no text as it streams: ${shown}`, shown.includes('second <img src=x'));
      check(`${name} shows no failure with its reason`, failed.includes('the provider is down') && shown.includes('failed'));
      check(`${name} shows no reason of a skipped cell`, shown.includes('the budget is too small'));
      check(`${name} has characters that turn or control a text`, !/[\u202e\u001b]/.test(shown + failed));
      check(`${name} counts no cost`, (await page.locator('#facts').innerText()).includes('$0.25'));
      check(`${name} continues at ${positions[1]}`, positions[1] === String(events.length));
      await page.locator('#rows summary').focus();
      await page.keyboard.press('Enter');
      check(`${name}: the keyboard opens no long value`, await page.locator('#rows details[open]').count() === 1);
      await accessible(page, name);
      await page.screenshot({ path: join(folder, `live-${width}-${colorScheme}.png`), fullPage: true });
      await context.close();
      server.close();
    }
  }
};

const browser = await launch();
if (url) {
  await live(browser);
} else if (folder) {
  for (const file of readdirSync(folder).filter(file => file.endsWith('.html'))) {
    await keyboard(browser, file);
    if (existsSync(join(folder, file.replace('.html', '.json')))) await requests(browser, file);
    if (file.startsWith('long')) continue;
    valid(file);
    await shots(browser, file);
  }
}
await browser.close();
findings.forEach(finding => console.log(`FINDING ${finding}`));
process.exit(findings.length > 0 ? 1 : 0);
