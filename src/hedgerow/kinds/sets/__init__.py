"""Sets: records that are sets of items, such as baskets."""
