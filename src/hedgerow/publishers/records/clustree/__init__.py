"""ClusTree: classes of nested records with equal trees, by generalisation and suppression."""
