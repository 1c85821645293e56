"""What the model is sent, measured: recorded runs, a long tool chain, a long session."""
