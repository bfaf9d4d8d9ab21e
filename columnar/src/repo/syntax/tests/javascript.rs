//! A file of JavaScript, and its symbols.

pub(super) const TEXT: &str = r#"
// @ts-check
import Name, { parse as read, Spec } from './declare.js';
import * as parts from "./parts";
import './style.css';
export { shown } from './shown';
export * from './all';
const fs = require('fs');
const { join, resolve: find } = require('node:path');
require('./setup');

const MAX = 64;
let counter = 0;
const TABLE = { first: make('a long text for the first row'), second: 2, third: 3 };

/** A view. */
export class View extends parts.Base {
  static LIMIT = 10;
  #parts = [];
  onShow = async (event) => { handle(event); };

  constructor(spec, { depth = 0, name } = {}, options = { first: 'a long default value', second: 'another one' }) {
    super(spec);
    this.#parts = spec.parts.filter((part) => part.isShown()).map(Part.from);
  }

  get title() { return format`${this.name} ${shorten(this.text)}`; }

  static async *load(path /* where it is */, ...rest) {
    function inner(value) { return new Late(value); }
    const data = JSON.parse(await fs.promises.readFile(path));
    const local = { View, read };
    for (const [key, value] of Object.entries(data)) yield inner(value);
    if (!data) throw new errors.NotFound(path);
  }

  [Symbol.iterator]() { return this.#walk(); }
}

export function show(view, depth = MAX) {
  counter += 1;
  return <Frame title={view.title}><div>{render(view)}</div></Frame>;
}

export const arrow = (a, b) => combine(a, b);
const single = value => value.size();
export const Widget = memo(function Widget(props) { return <View {...props} />; });
export default function (options) { return createView(options); }

module.exports.helper = function helper(x) { return x.help(); };
View.prototype.hide = function () { this.shown = false; };
module.exports = { View, show };
describe('a view', () => { const local = setup(); it('is shown', () => { show(local); }); });
"#;

pub(super) const SYMBOLS: &str = r"
import ./declare.js: Name, { parse as read, Spec }
import ./parts: * as parts
import ./style.css
import ./shown: { shown }
import ./all: *
import fs: fs
import node:path: { join, resolve: find }
import ./setup
Constant MAX = 64
Constant TABLE
Class View extends parts.Base
  Constant LIMIT = 10
  Function async onShow (event)
  Function constructor (spec, { depth = 0, name } = {}, options = …)
  Function title ()
  Function async load (path, ...rest)
  Function [Symbol.iterator] ()
Function show (view, depth = MAX)
Function arrow (a, b)
Function single (value)
Constant Widget
Function default (options)
Function helper (x)
Function hide ()
";
