"""clustree on the synthetic students: what is lost, and how long it takes, for l = 2 to 5.

Prints one line per setting; the loss is LM of labels, and the ratio is that of the time to the floor: one sparse
product of all records with all records, without any of our code.
"""

from __future__ import annotations

import time

import numpy as np
from recon import Recon, recon
from scipy import sparse

from hedgerow import ClusTree, LDiversity
from hedgerow.data.records import Records
from hedgerow.measures.record_loss import add_losses, find_label_losses


def floor(data: Records) -> float:
    """The time to multiply a sparse matrix of records and labels with itself."""
    row, column = data.records_of(1), data.tables[1].labels[:, 0]
    matrix = sparse.csr_matrix((np.ones(len(row)), (row, column)))
    start = time.process_time()
    (matrix @ matrix.T).sum()
    return time.process_time() - start


def main() -> None:
    """Publish in a single pass, and for l = 2 in all passes."""
    data = recon(Recon())
    base = floor(data)
    for values, passes in ((2, "single"), (3, "single"), (4, "single"), (5, "single"), (2, "many"), (3, "many")):
        start = time.process_time()
        released = ClusTree(passes=passes).publish(data, LDiversity(l=values), seed=1).data
        seconds = time.process_time() - start
        loss = add_losses(find_label_losses(data, released).values()).total
        ratio = seconds / base
        print(
            f"l = {values}, passes {passes}: loss {loss:.4f}, {seconds:.1f} s, {ratio:.0f} times the floor", flush=True
        )


if __name__ == "__main__":
    main()
