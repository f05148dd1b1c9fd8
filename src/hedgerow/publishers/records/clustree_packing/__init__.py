"""Classes of nested records by set packing: our own clustering, with the parts of ClusTree."""
