//! The receipts of replies: the model, the tokens and the time, stored with the nodes.

use std::collections::BTreeMap;

use crate::context::tree::{Header, Node, Path, Tree};
use crate::model::usage::{Receipt, Total};

impl Header {
    /// Records what the reply cost. A node keeps its receipt for ever.
    ///
    /// ```
    /// use columnar::loom::{Author, Header, NodeId};
    /// use columnar::usage::Receipt;
    ///
    /// let receipt: Receipt = r#"{"model":"openai/gpt-5.4-mini","calls":1,"input":120,"output":8}"#.parse()?;
    /// let header = Header::new(NodeId::new("k3f9")?, Author::Model).with_receipt(&receipt);
    /// assert_eq!(Header::parse(&header.to_json())?.receipt(), Some(receipt));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_receipt(self, receipt: &Receipt) -> Self {
        self.with_receipt_json(&receipt.to_string())
    }

    /// The receipt of the reply; `None` if none was recorded, or if this version of the library cannot read the receipt.
    pub fn receipt(&self) -> Option<Receipt> {
        self.receipt_json()?.parse().ok()
    }
}

impl Node<'_> {
    /// The receipt of the reply; `None` if none was recorded, or if this version of the library cannot read the receipt.
    /// [`Loom::append_reply`](super::Loom::append_reply) and [`Header::with_receipt`] record one.
    pub fn receipt(&self) -> Option<Receipt> {
        self.receipt_json()?.parse().ok()
    }
}

impl Path<'_> {
    /// The sum of the receipts of the path, with the receipts of nodes that are dropped: what it cost to come here.
    /// [`Total::cells`] is the number of nodes with a receipt.
    pub fn usage(&self) -> Total {
        let nodes: BTreeMap<_, _> = self.all().map(|turn| (turn.id(), turn.node())).collect();
        let receipts: Vec<Receipt> = nodes.values().filter_map(Node::receipt).collect();
        receipts.iter().collect()
    }
}

impl Tree {
    /// The sum of the receipts of all nodes, also of those that no path shows now. [`Total::cells`] is the number of nodes
    /// with a receipt.
    pub fn usage(&self) -> Total {
        let receipts: Vec<Receipt> =
            self.receipts_json().filter_map(|receipt| receipt.parse().ok()).collect();
        receipts.iter().collect()
    }
}
