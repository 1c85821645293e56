"""`steward new`: writes a business that runs at once, to be made one's own."""
