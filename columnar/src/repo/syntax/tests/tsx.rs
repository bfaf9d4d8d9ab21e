//! A file of TypeScript with elements, and its symbols.

pub(super) const TEXT: &str = r"
import React, { useState } from 'react';
import { View } from './view';

interface Props { view: View; onShow(id: string): void }

export const Panel: React.FC<Props> = ({ view, onShow }) => {
  const [shown, setShown] = useState<boolean>(false);
  const toggle = () => { setShown(!shown); onShow(view.id); };
  return <Frame.Box title={label(view)}><button onClick={toggle}>{view.name}</button></Frame.Box>;
};

export default function App() { return <Panel view={new View()} onShow={console.log} />; }
";

pub(super) const SYMBOLS: &str = r"
import react: React, { useState }
import ./view: { View }
Trait Props
  Function onShow (id: string): void
Function Panel ({ view, onShow })
Function App ()
";
