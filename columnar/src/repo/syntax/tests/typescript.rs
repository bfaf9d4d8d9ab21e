//! A file of TypeScript, and its symbols.

pub(super) const TEXT: &str = r#"
import type { Name } from './declare';
import fs = require("fs");
import { Part, type Spec as ViewSpec } from '../parts';

export type Id = string | number;
export type Handler<T> = (event: T, options?: { once: boolean }) => Promise<void>;

export interface Shown<TItem> extends Base, Named<TItem> {
  readonly name: Name;
  show(depth?: number): TItem;
  new (spec: ViewSpec): Shown<TItem>;
}

export enum Level { Low, Middle = 5, High = compute() }
declare const VERSION: string;
declare function external(name: Name): void;
declare module "plugins" { export function load(name: string): Plugin; }

namespace Inner.Deep {
  export const DEPTH: number = 3;
}

@Component({ selector: 'view' })
export abstract class View<T extends Part = Part> extends BaseView<T> implements Shown<T>, Other {
  static readonly LIMIT: number = 10;
  private parts: Map<string, T> = new Map();
  handler: Handler<T> = async (event) => { await this.handle(event); };

  constructor(private readonly spec: ViewSpec, public name?: Name) { super(spec as unknown as Raw); }

  abstract render(depth: number): string;

  show(depth: number = 0): T { return cast<T>(this.parts.get(keyOf(depth))!); }

  @Input() set title(value: string) { this.validate(value); }

  overload(a: string): void;
  overload(a: number): void;
  overload(a: any) { return isNamed(a) ? a : undefined; }
}

export const create = async <T extends Part>(spec: ViewSpec, part: T): Promise<View<T>> => new Concrete(spec);
export const DEFAULTS = { depth: 1 } satisfies Options;
export function isNamed(value: unknown): value is Named<Id> { return typeof value === 'string'; }
export default class extends View<Part> {}
"#;

pub(super) const SYMBOLS: &str = r"
import ./declare: { Name }
import fs: fs
import ../parts: { Part, type Spec as ViewSpec }
Type Id = string | number
Type Handler <T> = (event: T, options?: { once: boolean }) => Promise<void>
Trait Shown <TItem> extends Base, Named<TItem>
  Function show (depth?: number): TItem
Enum Level { Low, Middle, High }
Constant VERSION : string
Function external (name: Name): void
Module plugins
  Function load (name: string): Plugin
Module Inner.Deep
  Constant DEPTH : number = 3
Class View <T extends Part = Part> extends BaseView<T> implements Shown<T>, Other
  Constant LIMIT : number = 10
  Function async handler (event)
  Function constructor (private readonly spec: ViewSpec, public name?: Name)
  Function render (depth: number): string
  Function show (depth: number = 0): T
  Function title (value: string)
  Function overload (a: string): void
  Function overload (a: number): void
  Function overload (a: any)
Function async create <T extends Part>(spec: ViewSpec, part: T): Promise<View<T>>
Constant DEFAULTS = { depth: 1 } satisfies Options
Function isNamed (value: unknown): value is Named<Id>
Class default extends View<Part>
";
