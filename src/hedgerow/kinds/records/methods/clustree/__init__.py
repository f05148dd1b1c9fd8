"""ClusTree: classes of generalised trees."""
