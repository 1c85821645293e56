"""Random conversations: as they stand in a store, as models and tools make them, as customers write them."""
