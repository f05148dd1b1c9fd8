"""What several methods share, on noisy or public numbers only: no data set, no ledger."""
