"""Parts that two or more methods share; they see neither data nor a ledger."""
